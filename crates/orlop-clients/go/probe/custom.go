package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
	"sigs.k8s.io/yaml"

	v1 "orlop.dev/clients/probe/api/v1"
	v2 "orlop.dev/clients/probe/api/v2"
)

// customSteps come in this order: the first installs the kinds that the others use, the last
// removes them.
var customSteps = []step{
	{"custom: install the definition", installDefinition},
	{"custom: typed create, get, list, update", lifeOfAWidget},
	{"custom: invalid objects have causes", invalidWidgets},
	{"custom: unknown fields", unknownFields},
	{"custom: status subresource", widgetStatus},
	{"custom: every patch type", patchWidget},
	{"custom: server-side apply", applyWidget},
	{"custom: selectable fields", selectWidgets},
	{"custom: conversion by a webhook", convertWidgets},
	{"custom: scale client", scaleWidget},
	{"custom: dynamic client", dynamicWidgets},
	{"custom: metadata client", metadataOfWidgets},
	{"custom: watch", watchWidgets},
	{"custom: cache with an index", cacheOfWidgets},
	{"custom: reconciler with finalizer and owned objects", reconcileWidgets},
	{"custom: remove the definition", removeDefinition},
}

//go:embed definitions/probe.orlop.dev_widgets.yaml
var widgetDefinition []byte

func init() {
	for _, add := range []error{
		v1.AddToScheme(scheme), v2.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme),
	} {
		if add != nil {
			panic(add)
		}
	}
}

// installDefinition does what a suite of tests made with kubebuilder does: envtest makes the
// certificates, points the definition at the webhook and waits until all versions are served.
func installDefinition(_ context.Context, c *clients) error {
	hooks := envtest.WebhookInstallOptions{LocalServingHost: "127.0.0.1"}
	if err := hooks.PrepWithoutInstalling(); err != nil {
		return err
	}
	server := webhook.NewServer(webhook.Options{
		Host: hooks.LocalServingHost, Port: hooks.LocalServingPort, CertDir: hooks.LocalServingCertDir,
	})
	server.Register("/convert", conversion.NewWebhookHandler(scheme, conversion.NewRegistry()))
	// It serves as long as the program runs.
	go func() { _ = server.Start(context.Background()) }()
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(widgetDefinition, definition); err != nil {
		return err
	}
	_, err := envtest.InstallCRDs(c.config, envtest.CRDInstallOptions{
		Scheme: scheme, WebhookOptions: hooks, MaxTime: stepLimit, PollInterval: pollInterval,
		CRDs: []*apiextensionsv1.CustomResourceDefinition{definition},
	})
	return err
}

func widget(c *clients, name string) *v1.Widget {
	return &v1.Widget{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: c.namespace},
		Spec:       v1.WidgetSpec{Size: "3x4", Replicas: 2},
	}
}

// direct is controller-runtime's client without a cache.
func direct(c *clients) (client.WithWatch, error) {
	return client.NewWithWatch(c.config, client.Options{Scheme: scheme})
}

// create makes a Widget and returns the client that did.
func create(ctx context.Context, c *clients, made *v1.Widget) (client.WithWatch, error) {
	direct, err := direct(c)
	if err != nil {
		return nil, err
	}
	return direct, direct.Create(ctx, made)
}

func lifeOfAWidget(ctx context.Context, c *clients) error {
	made := widget(c, "a")
	direct, err := create(ctx, c, made)
	if err != nil {
		return err
	}
	if err := errors.Join(
		expect("default", made.Spec.Color, "red"),
		expect("generation", made.Generation, 1),
		expect("metadata is complete", made.UID != "" && made.ResourceVersion != "", true),
	); err != nil {
		return err
	}
	stale := made.DeepCopy()
	made.Spec.Ports = []v1.Port{{Name: "http", Port: 80}}
	if err := direct.Update(ctx, made); err != nil {
		return err
	}
	if err := expect("generation after an update", made.Generation, 2); err != nil {
		return err
	}
	if err := expect("conflict", apierrors.IsConflict(direct.Update(ctx, stale)), true); err != nil {
		return err
	}
	stale.ResourceVersion = ""
	unversioned := direct.Update(ctx, stale)
	if err := expect("update without a version is invalid", apierrors.IsInvalid(unversioned), true); err != nil {
		return err
	}
	got, list := &v1.Widget{}, &v1.WidgetList{}
	if err := direct.Get(ctx, client.ObjectKeyFromObject(made), got); err != nil {
		return err
	}
	if err := direct.List(ctx, list, client.InNamespace(c.namespace)); err != nil {
		return err
	}
	if err := errors.Join(
		expect("port", got.Spec.Ports[0].Port, 80), expect("items", len(list.Items), 1),
	); err != nil {
		return err
	}
	if err := direct.Delete(ctx, made); err != nil {
		return err
	}
	return expect("gone", apierrors.IsNotFound(direct.Get(ctx, client.ObjectKeyFromObject(made), got)), true)
}

func invalidWidgets(ctx context.Context, c *clients) error {
	direct, err := direct(c)
	if err != nil {
		return err
	}
	one := int32(1)
	for what, spoil := range map[string]func(*v1.Widget){
		"spec.size":          func(w *v1.Widget) { w.Spec.Size = "large" },
		"spec.color":         func(w *v1.Widget) { w.Spec.Color = "grey" },
		"spec.ports[0].port": func(w *v1.Widget) { w.Spec.Ports = []v1.Port{{Name: "a"}} },
		"spec":               func(w *v1.Widget) { w.Spec.ReplicasMax = &one },
		"spec.ports[1]":      func(w *v1.Widget) { w.Spec.Ports = []v1.Port{{Name: "a", Port: 1}, {Name: "a", Port: 2}} },
	} {
		spoilt := widget(c, "a")
		spoil(spoilt)
		if err := expectCause(direct.Create(ctx, spoilt), what); err != nil {
			return err
		}
	}
	made := widget(c, "b")
	made.Spec.Serial = "1"
	if err := direct.Create(ctx, made); err != nil {
		return err
	}
	made.Spec.Serial = "2"
	return expectCause(direct.Update(ctx, made), "spec.serial")
}

// expectCause wants an error that names a field.
func expectCause(err error, field string) error {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || !apierrors.IsInvalid(err) {
		return fmt.Errorf("%s: not invalid: %w", field, err)
	}
	for _, cause := range status.Status().Details.Causes {
		if cause.Field == field {
			return nil
		}
	}
	return fmt.Errorf("no cause names %s: %w", field, err)
}

func unknownFields(ctx context.Context, c *clients) error {
	direct, err := direct(c)
	if err != nil {
		return err
	}
	object := func() *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "probe.orlop.dev/v1", "kind": "Widget",
			"metadata": map[string]any{"name": "a", "namespace": c.namespace},
			"spec":     map[string]any{"size": "1x1", "replicas": int64(1), "shape": "round"},
		}}
	}
	strict := client.WithFieldValidation(direct, client.FieldValidation(metav1.FieldValidationStrict))
	err = strict.Create(ctx, object())
	if err := expect("strict", fmt.Sprint(err),
		`Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.shape"`); err != nil {
		return err
	}
	lenient, pruned := client.WithFieldValidation(direct, client.FieldValidation(metav1.FieldValidationIgnore)), object()
	if err := lenient.Create(ctx, pruned); err != nil {
		return err
	}
	_, found, err := unstructured.NestedString(pruned.Object, "spec", "shape")
	return errors.Join(err, expect("kept", found, false))
}

func widgetStatus(ctx context.Context, c *clients) error {
	made := widget(c, "a")
	made.Status.Replicas = 7
	direct, err := create(ctx, c, made)
	if err != nil {
		return err
	}
	if err := expect("status when created", made.Status.Replicas, 0); err != nil {
		return err
	}
	made.Status.Replicas = 2
	made.Spec.Size = "9x9"
	meta.SetStatusCondition(&made.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Done", ObservedGeneration: made.Generation,
	})
	if err := direct.Status().Update(ctx, made); err != nil {
		return err
	}
	if err := errors.Join(
		expect("size", made.Spec.Size, "3x4"), expect("generation", made.Generation, 1),
		expect("condition", meta.IsStatusConditionTrue(made.Status.Conditions, "Ready"), true),
	); err != nil {
		return err
	}
	before := made.DeepCopy()
	made.Status.Selector = "app=a"
	if err := direct.Status().Patch(ctx, made, client.MergeFrom(before)); err != nil {
		return err
	}
	if err := expect("selector", made.Status.Selector, "app=a"); err != nil {
		return err
	}
	made.Status.Conditions[0].Reason = ""
	return expectCause(direct.Status().Update(ctx, made), "status.conditions[0].reason")
}

func patchWidget(ctx context.Context, c *clients) error {
	made := widget(c, "a")
	direct, err := create(ctx, c, made)
	if err != nil {
		return err
	}
	before := made.DeepCopy()
	made.Spec.Labels = map[string]string{"a": "1"}
	if err := direct.Patch(ctx, made, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	instructions := `[{"op":"test","path":"/spec/size","value":"3x4"},{"op":"replace","path":"/spec/size","value":"5x6"}]`
	if err := direct.Patch(ctx, made, client.RawPatch(types.JSONPatchType, []byte(instructions))); err != nil {
		return err
	}
	if err := errors.Join(expect("label", made.Spec.Labels["a"], "1"), expect("size", made.Spec.Size, "5x6")); err != nil {
		return err
	}
	strategic := direct.Patch(ctx, made, client.RawPatch(types.StrategicMergePatchType, []byte(`{"spec":{"size":"7x8"}}`)))
	if err := expect("strategic is unsupported", apierrors.IsUnsupportedMediaType(strategic), true); err != nil {
		return err
	}
	spoilt := direct.Patch(ctx, made, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"size":null}}`)))
	return expectCause(spoilt, "spec.size")
}

func applyWidget(ctx context.Context, c *clients) error {
	direct, err := direct(c)
	if err != nil {
		return err
	}
	apply := func(spec map[string]any, options ...client.ApplyOption) error {
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "probe.orlop.dev/v1", "kind": "Widget",
			"metadata": map[string]any{"name": "a", "namespace": c.namespace}, "spec": spec,
		}}
		return direct.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), options...)
	}
	port := func(name string, number int64) any { return map[string]any{"name": name, "port": number} }
	first := map[string]any{"size": "1x1", "ports": []any{port("http", 80), port("https", 443)}}
	if err := apply(first, client.FieldOwner("one")); err != nil {
		return err
	}
	if err := apply(map[string]any{"ports": []any{port("metrics", 9090)}}, client.FieldOwner("two")); err != nil {
		return err
	}
	conflict := apply(map[string]any{"size": "2x2"}, client.FieldOwner("two"))
	if err := expect("conflict", apierrors.IsConflict(conflict), true); err != nil {
		return err
	}
	if err := apply(map[string]any{"size": "2x2"}, client.FieldOwner("two"), client.ForceOwnership); err != nil {
		return err
	}
	got := &v1.Widget{}
	if err := direct.Get(ctx, types.NamespacedName{Namespace: c.namespace, Name: "a"}, got); err != nil {
		return err
	}
	// The second manager does not want the port any more, and nobody else does.
	return errors.Join(
		expect("size", got.Spec.Size, "2x2"), expect("ports", len(got.Spec.Ports), 2),
		expect("managers", len(got.ManagedFields), 2),
	)
}

func selectWidgets(ctx context.Context, c *clients) error {
	made := widget(c, "a")
	direct, err := create(ctx, c, made)
	if err != nil {
		return err
	}
	blue := widget(c, "b")
	blue.Spec.Color = "blue"
	if err := direct.Create(ctx, blue); err != nil {
		return err
	}
	list := &v1.WidgetList{}
	if err := direct.List(ctx, list, client.InNamespace(c.namespace), client.MatchingFields{"spec.color": "blue"}); err != nil {
		return err
	}
	if err := errors.Join(expect("items", len(list.Items), 1), expect("name", list.Items[0].Name, "b")); err != nil {
		return err
	}
	unknown := direct.List(ctx, list, client.MatchingFields{"spec.size": "1x1"})
	return expect("other fields are refused", apierrors.IsBadRequest(unknown), true)
}

func convertWidgets(ctx context.Context, c *clients) error {
	made := widget(c, "a")
	direct, err := create(ctx, c, made)
	if err != nil {
		return err
	}
	key, other := client.ObjectKeyFromObject(made), &v2.Widget{}
	if err := direct.Get(ctx, key, other); err != nil {
		return err
	}
	if err := errors.Join(expect("width", other.Spec.Width, 3), expect("height", other.Spec.Height, 4)); err != nil {
		return err
	}
	other.Spec.Width = 30
	if err := direct.Update(ctx, other); err != nil {
		return err
	}
	if err := direct.Get(ctx, key, made); err != nil {
		return err
	}
	if err := expect("size", made.Spec.Size, "30x4"); err != nil {
		return err
	}
	born := &v2.Widget{
		ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: c.namespace},
		Spec:       v2.WidgetSpec{Width: 1, Height: 2, Replicas: 1},
	}
	if err := direct.Create(ctx, born); err != nil {
		return err
	}
	list := &v2.WidgetList{}
	if err := direct.List(ctx, list, client.InNamespace(c.namespace)); err != nil {
		return err
	}
	if err := errors.Join(expect("items", len(list.Items), 2), expect("first", list.Items[0].Spec.Width, 30)); err != nil {
		return err
	}
	events, err := direct.Watch(ctx, list, client.InNamespace(c.namespace))
	if err != nil {
		return err
	}
	defer events.Stop()
	made.Spec.Size = "31x4"
	if err := direct.Update(ctx, made); err != nil {
		return err
	}
	for event := range events.ResultChan() {
		if seen, ok := event.Object.(*v2.Widget); ok && seen.Spec.Width == 31 {
			return nil
		}
	}
	return errors.New("the watch of the other version ended")
}

func removeDefinition(ctx context.Context, c *clients) error {
	kept := widget(c, "kept")
	kept.Finalizers = []string{"probe.orlop.dev/kept"}
	direct, err := create(ctx, c, kept)
	if err != nil {
		return err
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	key := types.NamespacedName{Name: "widgets.probe.orlop.dev"}
	if err := direct.Get(ctx, key, definition); err != nil {
		return err
	}
	if err := expect("stored versions", fmt.Sprint(definition.Status.StoredVersions), "[v1]"); err != nil {
		return err
	}
	if err := direct.Delete(ctx, definition); err != nil {
		return err
	}
	// The instance that somebody holds is deleted, but not gone, and nothing new is made.
	err = wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		err := direct.Get(ctx, client.ObjectKeyFromObject(kept), kept)
		return err == nil && kept.DeletionTimestamp != nil, client.IgnoreNotFound(err)
	})
	if err != nil {
		return fmt.Errorf("the instance is not being deleted: %w", err)
	}
	late := direct.Create(ctx, widget(c, "late"))
	if err := expect("create while terminating", apierrors.IsForbidden(late), true); err != nil {
		return fmt.Errorf("%w: %w", err, late)
	}
	kept.Finalizers = nil
	if err := direct.Update(ctx, kept); err != nil {
		return err
	}
	return wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		err := direct.Get(ctx, key, definition)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}
