// Package v2 has Widgets with a width and a height instead of a size.
//
// +kubebuilder:object:generate=true
// +groupName=probe.orlop.dev
package v2

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	v1 "orlop.dev/clients/probe/api/v1"
)

// GroupVersion is the group and version of the kinds here.
var GroupVersion = schema.GroupVersion{Group: "probe.orlop.dev", Version: "v2"}

// AddToScheme makes the kinds known.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Widget{}, &WidgetList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// WidgetSpec is what somebody wants.
type WidgetSpec struct {
	// +kubebuilder:validation:Minimum=1
	Width int32 `json:"width"`
	// +kubebuilder:validation:Minimum=1
	Height int32 `json:"height"`
	// +kubebuilder:default=1
	Replicas int32 `json:"replicas"`
	// +optional
	Color string `json:"color,omitempty"`
}

// Widget is a thing that a controller looks after.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WidgetSpec      `json:"spec"`
	Status v1.WidgetStatus `json:"status,omitempty"`
}

// WidgetList is a list of Widgets.
// +kubebuilder:object:root=true
type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Widget `json:"items"`
}

// ConvertTo makes a Widget of the stored version.
func (in *Widget) ConvertTo(hub conversion.Hub) error {
	out := hub.(*v1.Widget)
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec = v1.WidgetSpec{
		Size:     fmt.Sprintf("%dx%d", in.Spec.Width, in.Spec.Height),
		Replicas: in.Spec.Replicas, Color: in.Spec.Color,
	}
	out.Status = in.Status
	return nil
}

// ConvertFrom takes from a Widget of the stored version.
func (in *Widget) ConvertFrom(hub conversion.Hub) error {
	from := hub.(*v1.Widget)
	from.ObjectMeta.DeepCopyInto(&in.ObjectMeta)
	in.Spec = WidgetSpec{Replicas: from.Spec.Replicas, Color: from.Spec.Color}
	in.Status = from.Status
	_, err := fmt.Sscanf(from.Spec.Size, "%dx%d", &in.Spec.Width, &in.Spec.Height)
	return err
}

// DeepCopyInto copies all that is shared.
func (in *Widget) DeepCopyInto(out *Widget) {
	*out = *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = append([]metav1.Condition(nil), in.Status.Conditions...)
}

// DeepCopy returns a copy.
func (in *Widget) DeepCopy() *Widget {
	out := new(Widget)
	in.DeepCopyInto(out)
	return out
}

// DeepCopyObject returns a copy.
func (in *Widget) DeepCopyObject() runtime.Object { return in.DeepCopy() }

// DeepCopyObject returns a copy.
func (in *WidgetList) DeepCopyObject() runtime.Object {
	out := &WidgetList{TypeMeta: in.TypeMeta, Items: make([]Widget, len(in.Items))}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	for index := range in.Items {
		in.Items[index].DeepCopyInto(&out.Items[index])
	}
	return out
}
