package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"
	scaleclient "k8s.io/client-go/scale"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "orlop.dev/clients/probe/api/v1"
)

var widgets = v1.GroupVersion.WithResource("widgets")

func scaleWidget(ctx context.Context, c *clients) error {
	made := widget(c, "a")
	direct, err := create(ctx, c, made)
	if err != nil {
		return err
	}
	made.Status = v1.WidgetStatus{Replicas: 1, Selector: "app=a"}
	if err := direct.Status().Update(ctx, made); err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.discovery))
	kinds := scaleclient.NewDiscoveryScaleKindResolver(c.discovery)
	scales, err := scaleclient.NewForConfig(c.config, mapper, dynamicPath, kinds)
	if err != nil {
		return err
	}
	resource := schema.GroupResource{Group: widgets.Group, Resource: widgets.Resource}
	got, err := scales.Scales(c.namespace).Get(ctx, resource, "a", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := errors.Join(
		expect("wanted", got.Spec.Replicas, 2), expect("there", got.Status.Replicas, 1),
		expect("selector", got.Status.Selector, "app=a"),
	); err != nil {
		return err
	}
	got.Spec.Replicas = 5
	if _, err := scales.Scales(c.namespace).Update(ctx, resource, got, metav1.UpdateOptions{}); err != nil {
		return err
	}
	patch := []byte(`{"spec":{"replicas":6}}`)
	patched, err := scales.Scales(c.namespace).Patch(ctx, widgets, "a", types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return err
	}
	if err := expect("patched", patched.Spec.Replicas, 6); err != nil {
		return err
	}
	if err := direct.Get(ctx, client.ObjectKeyFromObject(made), made); err != nil {
		return err
	}
	return errors.Join(expect("replicas", made.Spec.Replicas, 6), expect("generation", made.Generation, 3))
}

// dynamicPath is where a group and version is served.
func dynamicPath(kind schema.GroupVersionKind) string {
	if kind.Group == "" {
		return "/api"
	}
	return "/apis"
}

func dynamicWidgets(ctx context.Context, c *clients) error {
	resource := c.dynamic.Resource(widgets).Namespace(c.namespace)
	for number := range 3 {
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "probe.orlop.dev/v1", "kind": "Widget",
			"metadata": map[string]any{"generateName": "made-", "labels": map[string]any{"odd": fmt.Sprint(number % 2)}},
			"spec":     map[string]any{"size": "1x1"},
		}}
		if _, err := resource.Create(ctx, object, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	page, err := resource.List(ctx, metav1.ListOptions{Limit: 2})
	if err != nil {
		return err
	}
	rest, err := resource.List(ctx, metav1.ListOptions{Limit: 2, Continue: page.GetContinue()})
	if err != nil {
		return err
	}
	if err := errors.Join(expect("page", len(page.Items), 2), expect("rest", len(rest.Items), 1)); err != nil {
		return err
	}
	if err := resource.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "odd=0"}); err != nil {
		return err
	}
	left, err := resource.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	return errors.Join(expect("left", len(left.Items), 1), expect("kind", left.GetKind(), "WidgetList"))
}

func metadataOfWidgets(ctx context.Context, c *clients) error {
	if _, err := create(ctx, c, widget(c, "a")); err != nil {
		return err
	}
	heads := c.metadata.Resource(widgets).Namespace(c.namespace)
	patch := []byte(`{"metadata":{"labels":{"seen":"yes"}}}`)
	head, err := heads.Patch(ctx, "a", types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return err
	}
	list, err := heads.List(ctx, metav1.ListOptions{LabelSelector: "seen=yes"})
	if err != nil {
		return err
	}
	return errors.Join(
		expect("label", head.Labels["seen"], "yes"), expect("items", len(list.Items), 1),
		expect("generation", list.Items[0].Generation, 1),
	)
}

func watchWidgets(ctx context.Context, c *clients) error {
	direct, err := direct(c)
	if err != nil {
		return err
	}
	events, err := direct.Watch(ctx, &v1.WidgetList{}, client.InNamespace(c.namespace))
	if err != nil {
		return err
	}
	defer events.Stop()
	made := widget(c, "a")
	if err := direct.Create(ctx, made); err != nil {
		return err
	}
	made.Spec.Replicas = 3
	if err := direct.Update(ctx, made); err != nil {
		return err
	}
	if err := direct.Delete(ctx, made); err != nil {
		return err
	}
	for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted} {
		event := <-events.ResultChan()
		seen, ok := event.Object.(*v1.Widget)
		if !ok || seen.Name != "a" {
			return fmt.Errorf("not the object: %v", event)
		}
		if err := expect("event", event.Type, want); err != nil {
			return err
		}
	}
	return nil
}

func cacheOfWidgets(ctx context.Context, c *clients) error {
	store, err := cache.New(c.config, cache.Options{
		Scheme: scheme, DefaultNamespaces: map[string]cache.Config{c.namespace: {}},
	})
	if err != nil {
		return err
	}
	index := func(object client.Object) []string { return []string{object.(*v1.Widget).Spec.Color} }
	if err := store.IndexField(ctx, &v1.Widget{}, "color", index); err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	go func() { _ = store.Start(running) }()
	if !store.WaitForCacheSync(ctx) {
		return errors.New("the cache does not sync")
	}
	made := widget(c, "a")
	made.Spec.Color = "green"
	direct, err := create(ctx, c, made)
	if err != nil {
		return err
	}
	count := func(want int) error {
		return wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
			list := &v1.WidgetList{}
			err := store.List(ctx, list, client.MatchingFields{"color": "green"})
			return len(list.Items) == want, err
		})
	}
	if err := count(1); err != nil {
		return fmt.Errorf("not in the cache: %w", err)
	}
	if err := direct.Delete(ctx, made); err != nil {
		return err
	}
	if err := count(0); err != nil {
		return fmt.Errorf("still in the cache: %w", err)
	}
	return nil
}

const keeper = "probe.orlop.dev/keeper"

// maker keeps a ConfigMap with the spec of each Widget and takes leave of those that are deleted.
type maker struct {
	client.Client
	left chan string
}

func (r *maker) Reconcile(ctx context.Context, request controllerruntime.Request) (controllerruntime.Result, error) {
	of := &v1.Widget{}
	if err := r.Get(ctx, request.NamespacedName, of); err != nil {
		return controllerruntime.Result{}, client.IgnoreNotFound(err)
	}
	if of.DeletionTimestamp != nil {
		if controllerutil.RemoveFinalizer(of, keeper) {
			r.left <- of.Name
			return controllerruntime.Result{}, r.Update(ctx, of)
		}
		return controllerruntime.Result{}, nil
	}
	if controllerutil.AddFinalizer(of, keeper) {
		return controllerruntime.Result{}, r.Update(ctx, of)
	}
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: of.Name, Namespace: of.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, made, func() error {
		text, err := json.Marshal(of.Spec)
		made.Data = map[string]string{"spec": string(text)}
		return errors.Join(err, controllerutil.SetControllerReference(of, made, r.Scheme()))
	})
	if err != nil {
		return controllerruntime.Result{}, err
	}
	before := of.DeepCopy()
	of.Status.Replicas, of.Status.ObservedGeneration = of.Spec.Replicas, of.Generation
	meta.SetStatusCondition(&of.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Made", ObservedGeneration: of.Generation,
	})
	return controllerruntime.Result{}, r.Status().Patch(ctx, of, client.MergeFrom(before))
}

func reconcileWidgets(ctx context.Context, c *clients) error {
	manager, err := controllerruntime.NewManager(c.config, controllerruntime.Options{
		Scheme: scheme, Metrics: server.Options{BindAddress: "0"},
		Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{c.namespace: {}}},
	})
	if err != nil {
		return err
	}
	reconciler := &maker{manager.GetClient(), make(chan string, 1)}
	builder := controllerruntime.NewControllerManagedBy(manager).For(&v1.Widget{}).Owns(&corev1.ConfigMap{})
	if err := builder.Complete(reconciler); err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(running) }()
	err = followWidget(ctx, c, reconciler.left)
	stop()
	return errors.Join(err, <-ended)
}

// followWidget changes and deletes a Widget and waits for what the controller makes of it.
func followWidget(ctx context.Context, c *clients, left <-chan string) error {
	made := widget(c, "followed")
	direct, err := create(ctx, c, made)
	if err != nil {
		return err
	}
	key := client.ObjectKeyFromObject(made)
	observed := func(generation int64) error {
		return wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
			err := direct.Get(ctx, key, made)
			return made.Status.ObservedGeneration == generation, err
		})
	}
	if err := observed(1); err != nil {
		return fmt.Errorf("not reconciled: %w", err)
	}
	before := made.DeepCopy()
	made.Spec.Replicas = 4
	if err := direct.Patch(ctx, made, client.MergeFrom(before)); err != nil {
		return err
	}
	if err := observed(2); err != nil {
		return fmt.Errorf("the change was not seen: %w", err)
	}
	owned := &corev1.ConfigMap{}
	if err := direct.Get(ctx, key, owned); err != nil {
		return err
	}
	if err := expect("owner", metav1.IsControlledBy(owned, made), true); err != nil {
		return err
	}
	if err := direct.Delete(ctx, made); err != nil {
		return err
	}
	select {
	case name := <-left:
		if err := expect("left", name, made.Name); err != nil {
			return err
		}
	case <-ctx.Done():
		return errors.New("the finalizer stays")
	}
	return wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		err := direct.Get(ctx, key, made)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}
