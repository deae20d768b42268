package main

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/restmapper"
	scaleclient "k8s.io/client-go/scale"
)

var untypedSteps = []step{
	{"discovery, whole and by group", discoverAll},
	{"rest mapper", mapKinds},
	{"openapi v3 and v2", readOpenAPI},
	{"dynamic client", dynamicLife},
	{"metadata client", metadataLife},
	{"polymorphic scale client", polymorphicScale},
	{"table of a list", table},
}

var (
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

func discoverAll(_ context.Context, c *clients) error {
	version, err := c.discovery.ServerVersion()
	if err != nil {
		return err
	}
	if version.Major != "1" || version.Minor == "" {
		return fmt.Errorf("version: %+v", version)
	}
	groups, lists, err := c.discovery.ServerGroupsAndResources()
	if err != nil {
		return err
	}
	// The same without the aggregated documents, as clients before 1.26 see it.
	legacy := *c.discovery
	legacy.UseLegacyDiscovery = true
	oldGroups, oldLists, err := legacy.ServerGroupsAndResources()
	if err != nil {
		return err
	}
	if err := expect("groups", len(groups), len(oldGroups)); err != nil {
		return err
	}
	names := func(lists []*metav1.APIResourceList) map[string]bool {
		all := map[string]bool{}
		for _, list := range lists {
			for _, resource := range list.APIResources {
				all[list.GroupVersion+" "+resource.Name+" "+resource.Kind+" "+fmt.Sprint(resource.Verbs)] = true
			}
		}
		return all
	}
	new, old := names(lists), names(oldLists)
	for name := range old {
		if !new[name] {
			return fmt.Errorf("%s is not in the aggregated documents", name)
		}
	}
	if err := expect("resources", len(new), len(old)); err != nil {
		return err
	}
	preferred, err := discovery.ServerPreferredResources(c.discovery)
	if err != nil {
		return err
	}
	return expect("some are preferred", len(preferred) > 10, true)
}

func mapKinds(_ context.Context, c *clients) error {
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.discovery))
	expander := restmapper.NewShortcutExpander(mapper, c.discovery, nil)
	for short, want := range map[string]string{
		"po": "pods", "deploy": "deployments", "cm": "configmaps", "netpol": "networkpolicies", "sts": "statefulsets",
	} {
		got, err := expander.ResourceFor(schema.GroupVersionResource{Resource: short})
		if err != nil {
			return err
		}
		if err := expect(short, got.Resource, want); err != nil {
			return err
		}
	}
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"})
	if err != nil {
		return err
	}
	return expect("scope", string(mapping.Scope.Name()), "root")
}

func readOpenAPI(_ context.Context, c *clients) error {
	root := openapi3.NewRoot(c.discovery.OpenAPIV3())
	for _, group := range []schema.GroupVersion{{Version: "v1"}, {Group: "apps", Version: "v1"}} {
		document, err := root.GVSpec(group)
		if err != nil {
			return err
		}
		if document.Components == nil || len(document.Components.Schemas) == 0 {
			return fmt.Errorf("%s has no schemas", group)
		}
	}
	document, err := c.discovery.OpenAPISchema()
	if err != nil {
		return err
	}
	return expect("definitions", len(document.GetDefinitions().GetAdditionalProperties()) > 100, true)
}

func dynamicLife(ctx context.Context, c *clients) error {
	maps := c.dynamic.Resource(configMaps).Namespace(c.namespace)
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "a"},
		"data":     map[string]any{"a": "1"},
	}}
	made, err := maps.Create(ctx, object, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := unstructured.SetNestedField(made.Object, "2", "data", "a"); err != nil {
		return err
	}
	if _, err := maps.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	object.SetName("b")
	if _, err := maps.Apply(ctx, "b", object, metav1.ApplyOptions{FieldManager: "probe"}); err != nil {
		return err
	}
	list, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if err := expect("items", len(list.Items), 2); err != nil {
		return err
	}
	if err := expect("kind of an item", list.Items[0].GetKind(), "ConfigMap"); err != nil {
		return err
	}
	unknown := object.DeepCopy()
	unknown.SetName("c")
	unknown.Object["unknown"] = "x"
	_, err = maps.Create(ctx, unknown, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if !apierrors.IsBadRequest(err) {
		return fmt.Errorf("an unknown field: %v", err)
	}
	return maps.Delete(ctx, "a", metav1.DeleteOptions{})
}

func metadataLife(ctx context.Context, c *clients) error {
	if _, err := c.typed.CoreV1().ConfigMaps(c.namespace).Create(ctx, configMap("a", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	maps := c.metadata.Resource(configMaps).Namespace(c.namespace)
	got, err := maps.Get(ctx, "a", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := expect("name", got.Name, "a"); err != nil {
		return err
	}
	patch := []byte(`{"metadata":{"labels":{"x":"y"}}}`)
	if _, err := maps.Patch(ctx, "a", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return err
	}
	list, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "x=y"})
	if err != nil {
		return err
	}
	if err := expect("items", len(list.Items), 1); err != nil {
		return err
	}
	return maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
}

func polymorphicScale(ctx context.Context, c *clients) error {
	if _, err := c.typed.AppsV1().Deployments(c.namespace).Create(ctx, deployment("web"), metav1.CreateOptions{}); err != nil {
		return err
	}
	cached := memory.NewMemCacheClient(c.discovery)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(cached)
	resolver := scaleclient.NewDiscoveryScaleKindResolver(cached)
	scales, err := scaleclient.NewForConfig(c.config, mapper, pathOf, resolver)
	if err != nil {
		return err
	}
	patch := []byte(`{"spec":{"replicas":4}}`)
	got, err := scales.Scales(c.namespace).Patch(ctx, deployments, "web", types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return err
	}
	return expect("replicas", got.Spec.Replicas, 4)
}

func pathOf(kind schema.GroupVersionKind) string {
	if kind.Group == "" {
		return "/api"
	}
	return "/apis"
}

func table(ctx context.Context, c *clients) error {
	if _, err := c.typed.AppsV1().Deployments(c.namespace).Create(ctx, deployment("web"), metav1.CreateOptions{}); err != nil {
		return err
	}
	got := &metav1.Table{}
	accept := "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
	request := c.json.AppsV1().RESTClient().Get().Namespace(c.namespace).Resource("deployments")
	if err := request.SetHeader("Accept", accept).Do(ctx).Into(got); err != nil {
		return err
	}
	if err := expect("rows", len(got.Rows), 1); err != nil {
		return err
	}
	if err := expect("first column", got.ColumnDefinitions[0].Name, "Name"); err != nil {
		return err
	}
	return expect("first cell", fmt.Sprint(got.Rows[0].Cells[0]), "web")
}
