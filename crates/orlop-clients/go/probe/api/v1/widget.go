// Package v1 has the kinds of the group probe.orlop.dev as a project made with kubebuilder has them.
//
// +kubebuilder:object:generate=true
// +groupName=probe.orlop.dev
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the kinds here.
var GroupVersion = schema.GroupVersion{Group: "probe.orlop.dev", Version: "v1"}

// AddToScheme makes the kinds known.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Widget{}, &WidgetList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// WidgetSpec is what somebody wants.
// +kubebuilder:validation:XValidation:rule="!has(self.replicasMax) || self.replicas <= self.replicasMax",message="replicas must not exceed replicasMax"
type WidgetSpec struct {
	// Size is width and height.
	// +kubebuilder:validation:Pattern=`^[0-9]+x[0-9]+$`
	Size string `json:"size"`
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:default=1
	Replicas int32 `json:"replicas"`
	// +optional
	ReplicasMax *int32 `json:"replicasMax,omitempty"`
	// +kubebuilder:validation:Enum=red;green;blue
	// +kubebuilder:default=red
	// +optional
	Color string `json:"color,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="serial is immutable"
	// +optional
	Serial string `json:"serial,omitempty"`
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	// +optional
	Ports []Port `json:"ports,omitempty"`
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
}

// Port is one of a Widget's doors.
type Port struct {
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
}

// WidgetStatus is what somebody has.
type WidgetStatus struct {
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
	// +optional
	Selector string `json:"selector,omitempty"`
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Widget is a thing that a controller looks after.
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:shortName=wd,categories=all-probes
// +kubebuilder:selectablefield:JSONPath=.spec.color
// +kubebuilder:printcolumn:name="Size",type=string,JSONPath=`.spec.size`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WidgetSpec   `json:"spec"`
	Status WidgetStatus `json:"status,omitempty"`
}

// Hub says that other versions are converted to and from this one.
func (*Widget) Hub() {}

// WidgetList is a list of Widgets.
// +kubebuilder:object:root=true
type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Widget `json:"items"`
}

// DeepCopyInto copies all that is shared.
func (in *WidgetSpec) DeepCopyInto(out *WidgetSpec) {
	*out = *in
	if in.ReplicasMax != nil {
		most := *in.ReplicasMax
		out.ReplicasMax = &most
	}
	out.Ports = append([]Port(nil), in.Ports...)
	if in.Labels != nil {
		out.Labels = make(map[string]string, len(in.Labels))
		for key, value := range in.Labels {
			out.Labels[key] = value
		}
	}
}

// DeepCopyInto copies all that is shared.
func (in *Widget) DeepCopyInto(out *Widget) {
	*out = *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	in.Spec.DeepCopyInto(&out.Spec)
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
