package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/util/retry"
)

var typedSteps = []step{
	{"typed create, get, update, delete", lifeOfAConfigMap},
	{"typed errors have their reasons", errorsHaveReasons},
	{"update conflicts and retries", updateConflict},
	{"every patch type", patchTypes},
	{"strategic merge by key", strategicMerge},
	{"server-side apply", serverSideApply},
	{"apply conflicts between managers", applyConflict},
	{"extract what a manager owns", extractOwned},
	{"scale subresource", scale},
	{"status subresource", status},
	{"pod binding and eviction", bindAndEvict},
	{"ephemeral containers", ephemeralContainers},
	{"label and field selectors", selectors},
	{"lists in pages", pages},
	{"delete collection", deleteCollection},
	{"graceful deletion and finalizers", finalizers},
	{"delete preconditions", preconditions},
	{"dry run leaves nothing", dryRun},
	{"generated names", generatedNames},
	{"services get addresses", serviceAddresses},
	{"owner references and propagation", propagation},
}

func configMap(name string, labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Data:       map[string]string{"a": "1"},
	}
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Image: "example.test/image:1",
			Ports: []corev1.ContainerPort{{ContainerPort: 80}},
		}}},
	}
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod(name).Spec,
			},
		},
	}
}

func lifeOfAConfigMap(ctx context.Context, c *clients) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	made, err := maps.Create(ctx, configMap("a", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if made.UID == "" || made.ResourceVersion == "" || made.CreationTimestamp.IsZero() {
		return fmt.Errorf("metadata is missing: %+v", made.ObjectMeta)
	}
	made.BinaryData = map[string][]byte{"b": {0, 255}}
	updated, err := maps.Update(ctx, made, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	if updated.ResourceVersion == made.ResourceVersion {
		return errors.New("the resource version did not change")
	}
	same, err := maps.Update(ctx, updated, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	if err := expect("resource version of an unchanged object", same.ResourceVersion, updated.ResourceVersion); err != nil {
		return err
	}
	got, err := c.json.CoreV1().ConfigMaps(c.namespace).Get(ctx, "a", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := expect("binary data", string(got.BinaryData["b"]), "\x00\xff"); err != nil {
		return err
	}
	if len(got.ManagedFields) == 0 || got.ManagedFields[0].Manager == "" {
		return errors.New("nobody manages the fields")
	}
	if err := maps.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		return err
	}
	_, err = maps.Get(ctx, "a", metav1.GetOptions{})
	return expect("gone", apierrors.IsNotFound(err), true)
}

func errorsHaveReasons(ctx context.Context, c *clients) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	if _, err := maps.Create(ctx, configMap("a", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	_, again := maps.Create(ctx, configMap("a", nil), metav1.CreateOptions{})
	_, invalid := maps.Create(ctx, configMap("Not_A_Name", nil), metav1.CreateOptions{})
	_, missing := maps.Get(ctx, "missing", metav1.GetOptions{})
	other := configMap("b", nil)
	other.Namespace = "default"
	_, elsewhere := maps.Create(ctx, other, metav1.CreateOptions{})
	_, nowhere := c.typed.CoreV1().ConfigMaps("nowhere").Create(ctx, configMap("a", nil), metav1.CreateOptions{})
	_, unnamed := maps.Create(ctx, configMap("", nil), metav1.CreateOptions{})
	_, continued := maps.List(ctx, metav1.ListOptions{Continue: "nonsense", Limit: 1})
	for _, got := range []struct {
		what string
		err  error
		is   func(error) bool
	}{
		{"create again", again, apierrors.IsAlreadyExists},
		{"bad name", invalid, apierrors.IsInvalid},
		{"missing", missing, apierrors.IsNotFound},
		{"namespace of the object differs", elsewhere, apierrors.IsBadRequest},
		{"namespace does not exist", nowhere, apierrors.IsNotFound},
		{"no name", unnamed, apierrors.IsInvalid},
		{"bad continue", continued, apierrors.IsBadRequest},
	} {
		if !got.is(got.err) {
			return fmt.Errorf("%s: %v", got.what, got.err)
		}
	}
	var status *apierrors.StatusError
	if !errors.As(invalid, &status) || status.ErrStatus.Details == nil || len(status.ErrStatus.Details.Causes) == 0 {
		return fmt.Errorf("no causes: %v", invalid)
	}
	return expect("field", status.ErrStatus.Details.Causes[0].Field, "metadata.name")
}

func updateConflict(ctx context.Context, c *clients) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	first, err := maps.Create(ctx, configMap("a", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	second := first.DeepCopy()
	second.Data["a"] = "2"
	if _, err := maps.Update(ctx, second, metav1.UpdateOptions{}); err != nil {
		return err
	}
	first.Data["a"] = "3"
	if _, err := maps.Update(ctx, first, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		return fmt.Errorf("stale update: %v", err)
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		current, err := maps.Get(ctx, "a", metav1.GetOptions{})
		if err != nil {
			return err
		}
		current.Data["a"] = "3"
		_, err = maps.Update(ctx, current, metav1.UpdateOptions{})
		return err
	})
}

func patchTypes(ctx context.Context, c *clients) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	if _, err := maps.Create(ctx, configMap("a", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	for _, patch := range []struct {
		kind types.PatchType
		body string
	}{
		{types.JSONPatchType, `[{"op":"test","path":"/data/a","value":"1"},{"op":"add","path":"/data/json","value":"x"}]`},
		{types.MergePatchType, `{"data":{"merge":"x"}}`},
		{types.StrategicMergePatchType, `{"data":{"strategic":"x"}}`},
	} {
		if _, err := maps.Patch(ctx, "a", patch.kind, []byte(patch.body), metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("%s: %w", patch.kind, err)
		}
	}
	force := true
	applied := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":%q},"data":{"apply":"x"}}`, c.namespace)
	options := metav1.PatchOptions{FieldManager: "probe", Force: &force}
	got, err := maps.Patch(ctx, "a", types.ApplyPatchType, []byte(applied), options)
	if err != nil {
		return err
	}
	for _, key := range []string{"json", "merge", "strategic", "apply"} {
		if got.Data[key] != "x" {
			return fmt.Errorf("%s did not arrive: %v", key, got.Data)
		}
	}
	_, err = maps.Patch(ctx, "a", types.JSONPatchType, []byte(`[{"op":"test","path":"/data/a","value":"2"}]`), metav1.PatchOptions{})
	if !apierrors.IsInvalid(err) {
		return fmt.Errorf("a failing test: %v", err)
	}
	return nil
}

func strategicMerge(ctx context.Context, c *clients) error {
	deployments := c.typed.AppsV1().Deployments(c.namespace)
	if _, err := deployments.Create(ctx, deployment("web"), metav1.CreateOptions{}); err != nil {
		return err
	}
	patch := `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"example.test/image:2"},{"name":"second","image":"example.test/second:1"}]}}}}`
	got, err := deployments.Patch(ctx, "web", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	containers := got.Spec.Template.Spec.Containers
	if len(containers) != 2 {
		return fmt.Errorf("containers: %v", containers)
	}
	byName := map[string]corev1.Container{}
	for _, container := range containers {
		byName[container.Name] = container
	}
	if err := expect("image", byName["main"].Image, "example.test/image:2"); err != nil {
		return err
	}
	if err := expect("ports that were there", len(byName["main"].Ports), 1); err != nil {
		return err
	}
	return expect("generation", got.Generation, 2)
}

func webApply(namespace string, replicas int32) *appsapply.DeploymentApplyConfiguration {
	labels := map[string]string{"app": "web"}
	container := coreapply.Container().WithName("main").WithImage("example.test/image:1")
	template := coreapply.PodTemplateSpec().WithLabels(labels).WithSpec(coreapply.PodSpec().WithContainers(container))
	spec := appsapply.DeploymentSpec().WithSelector(metaapply.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(template).WithReplicas(replicas)
	return appsapply.Deployment("web", namespace).WithSpec(spec)
}

func serverSideApply(ctx context.Context, c *clients) error {
	deployments := c.typed.AppsV1().Deployments(c.namespace)
	options := metav1.ApplyOptions{FieldManager: "one"}
	first, err := deployments.Apply(ctx, webApply(c.namespace, 2), options)
	if err != nil {
		return err
	}
	again, err := deployments.Apply(ctx, webApply(c.namespace, 2), options)
	if err != nil {
		return err
	}
	if err := expect("resource version of an unchanged apply", again.ResourceVersion, first.ResourceVersion); err != nil {
		return err
	}
	without := webApply(c.namespace, 2)
	without.Spec.Replicas = nil
	last, err := deployments.Apply(ctx, without, options)
	if err != nil {
		return err
	}
	return expect("replicas that nobody wants", *last.Spec.Replicas, 1)
}

func applyConflict(ctx context.Context, c *clients) error {
	deployments := c.typed.AppsV1().Deployments(c.namespace)
	if _, err := deployments.Apply(ctx, webApply(c.namespace, 2), metav1.ApplyOptions{FieldManager: "one"}); err != nil {
		return err
	}
	_, err := deployments.Apply(ctx, webApply(c.namespace, 3), metav1.ApplyOptions{FieldManager: "two"})
	if !apierrors.IsConflict(err) {
		return fmt.Errorf("no conflict: %v", err)
	}
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.ErrStatus.Details == nil || len(status.ErrStatus.Details.Causes) != 1 {
		return fmt.Errorf("not one cause: %v", err)
	}
	cause := status.ErrStatus.Details.Causes[0]
	if err := expect("cause", cause.Type, metav1.CauseTypeFieldManagerConflict); err != nil {
		return err
	}
	if err := expect("field", cause.Field, ".spec.replicas"); err != nil {
		return err
	}
	options := metav1.ApplyOptions{FieldManager: "two", Force: true}
	_, err = deployments.Apply(ctx, webApply(c.namespace, 3), options)
	return err
}

func extractOwned(ctx context.Context, c *clients) error {
	deployments := c.typed.AppsV1().Deployments(c.namespace)
	made, err := deployments.Apply(ctx, webApply(c.namespace, 2), metav1.ApplyOptions{FieldManager: "one"})
	if err != nil {
		return err
	}
	owned, err := appsapply.ExtractDeployment(made, "one")
	if err != nil {
		return err
	}
	if owned.Spec == nil || owned.Spec.Replicas == nil {
		return fmt.Errorf("owned: %+v", owned)
	}
	if err := expect("replicas", *owned.Spec.Replicas, 2); err != nil {
		return err
	}
	return expect("strategy, which is a default", owned.Spec.Strategy == nil, true)
}

func scale(ctx context.Context, c *clients) error {
	deployments := c.typed.AppsV1().Deployments(c.namespace)
	if _, err := deployments.Create(ctx, deployment("web"), metav1.CreateOptions{}); err != nil {
		return err
	}
	current, err := deployments.GetScale(ctx, "web", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := expect("selector", current.Status.Selector, "app=web"); err != nil {
		return err
	}
	current.Spec.Replicas = 5
	if _, err := deployments.UpdateScale(ctx, "web", current, metav1.UpdateOptions{}); err != nil {
		return err
	}
	got, err := deployments.Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := expect("replicas", *got.Spec.Replicas, 5); err != nil {
		return err
	}
	stale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{
		Name: "web", Namespace: c.namespace, ResourceVersion: current.ResourceVersion,
	}}
	_, err = deployments.UpdateScale(ctx, "web", stale, metav1.UpdateOptions{})
	return expect("conflict", apierrors.IsConflict(err), true)
}

func status(ctx context.Context, c *clients) error {
	deployments := c.typed.AppsV1().Deployments(c.namespace)
	made, err := deployments.Create(ctx, deployment("web"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	one := int32(7)
	made.Spec.Replicas = &one
	made.Status.Replicas = 3
	made.Status.ObservedGeneration = made.Generation
	got, err := deployments.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	if err := expect("replicas in the status", got.Status.Replicas, 3); err != nil {
		return err
	}
	if err := expect("replicas in the spec", *got.Spec.Replicas, 1); err != nil {
		return err
	}
	got.Status.Replicas = 9
	got, err = deployments.Update(ctx, got, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	return expect("status after an update", got.Status.Replicas, 3)
}

func bindAndEvict(ctx context.Context, c *clients) error {
	pods := c.typed.CoreV1().Pods(c.namespace)
	if _, err := pods.Create(ctx, pod("a"), metav1.CreateOptions{}); err != nil {
		return err
	}
	binding := &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Target:     corev1.ObjectReference{Kind: "Node", Name: "node-1"},
	}
	if err := pods.Bind(ctx, binding, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := pods.Bind(ctx, binding, metav1.CreateOptions{}); !apierrors.IsConflict(err) {
		return fmt.Errorf("bound twice: %v", err)
	}
	zero := intstr.FromInt32(1)
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &zero,
			Selector:     &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}},
		},
	}
	if _, err := c.typed.PolicyV1().PodDisruptionBudgets(c.namespace).Create(ctx, budget, metav1.CreateOptions{}); err != nil {
		return err
	}
	running := []byte(`{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`)
	if _, err := pods.Patch(ctx, "a", types.MergePatchType, running, metav1.PatchOptions{}, "status"); err != nil {
		return err
	}
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	// The client would try again and again, as the answer tells it to.
	refused := c.typed.CoreV1().RESTClient().Post().Namespace(c.namespace).Resource("pods").Name("a").
		SubResource("eviction").MaxRetries(0).Body(eviction).Do(ctx).Error()
	if !apierrors.IsTooManyRequests(refused) {
		return fmt.Errorf("evicted against the budget: %v", refused)
	}
	if err := c.typed.PolicyV1().PodDisruptionBudgets(c.namespace).Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		return err
	}
	if err := pods.EvictV1(ctx, eviction); err != nil {
		return err
	}
	got, err := pods.Get(ctx, "a", metav1.GetOptions{})
	if err != nil {
		return err
	}
	return expect("is being deleted", got.DeletionTimestamp != nil, true)
}

func ephemeralContainers(ctx context.Context, c *clients) error {
	pods := c.typed.CoreV1().Pods(c.namespace)
	made, err := pods.Create(ctx, pod("a"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Spec.EphemeralContainers = []corev1.EphemeralContainer{{
		EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Image: "example.test/debug:1"},
	}}
	got, err := pods.UpdateEphemeralContainers(ctx, "a", made, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	return expect("ephemeral containers", len(got.Spec.EphemeralContainers), 1)
}

func selectors(ctx context.Context, c *clients) error {
	pods := c.typed.CoreV1().Pods(c.namespace)
	for _, name := range []string{"a", "b", "c"} {
		if _, err := pods.Create(ctx, pod(name), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for _, list := range []struct {
		options metav1.ListOptions
		want    int
	}{
		{metav1.ListOptions{LabelSelector: "app=a"}, 1},
		{metav1.ListOptions{LabelSelector: "app in (a,b),app!=b"}, 1},
		{metav1.ListOptions{LabelSelector: "!app"}, 0},
		{metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", "b").String()}, 1},
		{metav1.ListOptions{FieldSelector: "status.phase=Pending"}, 3},
		{metav1.ListOptions{FieldSelector: "status.phase!=Pending"}, 0},
		{metav1.ListOptions{FieldSelector: "spec.nodeName="}, 3},
	} {
		got, err := pods.List(ctx, list.options)
		if err != nil {
			return fmt.Errorf("%+v: %w", list.options, err)
		}
		if len(got.Items) != list.want {
			return fmt.Errorf("%+v: got %d, want %d", list.options, len(got.Items), list.want)
		}
	}
	_, err := pods.List(ctx, metav1.ListOptions{FieldSelector: "spec.nothing=a"})
	return expect("a field that cannot be selected", apierrors.IsBadRequest(err), true)
}

func pages(ctx context.Context, c *clients) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	const count = 25
	for index := range count {
		if _, err := maps.Create(ctx, configMap(fmt.Sprintf("map-%02d", index), nil), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	first, err := maps.List(ctx, metav1.ListOptions{Limit: 10})
	if err != nil {
		return err
	}
	if len(first.Items) != 10 || first.Continue == "" || first.RemainingItemCount == nil || *first.RemainingItemCount != 15 {
		return fmt.Errorf("first page: %d items, %+v", len(first.Items), first.ListMeta)
	}
	if _, err := maps.Create(ctx, configMap("zz-later", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	second, err := maps.List(ctx, metav1.ListOptions{Limit: 100, Continue: first.Continue})
	if err != nil {
		return err
	}
	if err := expect("items of the snapshot", len(second.Items), 15); err != nil {
		return err
	}
	if err := expect("resource version of the snapshot", second.ResourceVersion, first.ResourceVersion); err != nil {
		return err
	}
	seen := 0
	pages := pager.New(pager.SimplePageFunc(func(options metav1.ListOptions) (runtime.Object, error) {
		return maps.List(ctx, options)
	}))
	pages.PageSize = 7
	err = pages.EachListItem(ctx, metav1.ListOptions{}, func(runtime.Object) error {
		seen++
		return nil
	})
	if err != nil {
		return err
	}
	return expect("items of the pager", seen, count+1)
}

func deleteCollection(ctx context.Context, c *clients) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	for _, name := range []string{"a", "b", "c"} {
		labels := map[string]string{"keep": fmt.Sprint(name == "c")}
		if _, err := maps.Create(ctx, configMap(name, labels), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	err := maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "keep=false"})
	if err != nil {
		return err
	}
	left, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if len(left.Items) != 1 || left.Items[0].Name != "c" {
		return fmt.Errorf("left: %d", len(left.Items))
	}
	return nil
}

func finalizers(ctx context.Context, c *clients) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	held := configMap("a", nil)
	held.Finalizers = []string{"orlop.dev/probe"}
	if _, err := maps.Create(ctx, held, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := maps.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		return err
	}
	got, err := maps.Get(ctx, "a", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := expect("is being deleted", got.DeletionTimestamp != nil, true); err != nil {
		return err
	}
	patch := []byte(`{"metadata":{"finalizers":null}}`)
	if _, err := maps.Patch(ctx, "a", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return err
	}
	if _, err := maps.Get(ctx, "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return fmt.Errorf("still there: %v", err)
	}
	return gracefulPod(ctx, c)
}

// gracefulPod deletes a pod on a node, which waits for its kubelet, and one that is on none.
func gracefulPod(ctx context.Context, c *clients) error {
	pods := c.typed.CoreV1().Pods(c.namespace)
	placed := pod("placed")
	placed.Spec.NodeName = "node-1"
	if _, err := pods.Create(ctx, placed, metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := pods.Create(ctx, pod("nowhere"), metav1.CreateOptions{}); err != nil {
		return err
	}
	for _, name := range []string{"placed", "nowhere"} {
		if err := pods.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	got, err := pods.Get(ctx, "placed", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if got.DeletionGracePeriodSeconds == nil || *got.DeletionGracePeriodSeconds != 30 {
		return fmt.Errorf("grace: %v", got.DeletionGracePeriodSeconds)
	}
	if got.DeletionTimestamp.Time.Before(time.Now().Add(5 * time.Second)) {
		return fmt.Errorf("the deletion is not in the future: %v", got.DeletionTimestamp)
	}
	if _, err := pods.Get(ctx, "nowhere", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return fmt.Errorf("a pod on no node stays: %v", err)
	}
	if err := pods.Delete(ctx, "placed", *metav1.NewDeleteOptions(0)); err != nil {
		return err
	}
	_, err = pods.Get(ctx, "placed", metav1.GetOptions{})
	return expect("gone", apierrors.IsNotFound(err), true)
}

func preconditions(ctx context.Context, c *clients) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	made, err := maps.Create(ctx, configMap("a", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	wrong := *metav1.NewPreconditionDeleteOptions("00000000-0000-0000-0000-000000000000")
	if err := maps.Delete(ctx, "a", wrong); !apierrors.IsConflict(err) {
		return fmt.Errorf("another uid: %v", err)
	}
	version := made.ResourceVersion + "0"
	stale := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &version}}
	if err := maps.Delete(ctx, "a", stale); !apierrors.IsConflict(err) {
		return fmt.Errorf("another resource version: %v", err)
	}
	right := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &made.UID, ResourceVersion: &made.ResourceVersion}}
	return maps.Delete(ctx, "a", right)
}

func dryRun(ctx context.Context, c *clients) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	made, err := maps.Create(ctx, configMap("a", nil), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return err
	}
	if made.UID == "" {
		return errors.New("a dry run makes up no uid")
	}
	_, err = maps.Get(ctx, "a", metav1.GetOptions{})
	return expect("nothing is there", apierrors.IsNotFound(err), true)
}

func generatedNames(ctx context.Context, c *clients) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	seen := map[string]bool{}
	for range 3 {
		made, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "map-"}}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		if len(made.Name) != len("map-")+5 || made.GenerateName != "map-" {
			return fmt.Errorf("name %q of %q", made.Name, made.GenerateName)
		}
		seen[made.Name] = true
	}
	return expect("different names", len(seen), 3)
}

func serviceAddresses(ctx context.Context, c *clients) error {
	services := c.typed.CoreV1().Services(c.namespace)
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80}}},
	}
	made, err := services.Create(ctx, service, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if made.Spec.ClusterIP == "" || len(made.Spec.ClusterIPs) != 1 || made.Spec.Ports[0].NodePort == 0 {
		return fmt.Errorf("nothing was allocated: %+v", made.Spec)
	}
	second := service.DeepCopy()
	second.Name = "b"
	second.Spec.ClusterIP = made.Spec.ClusterIP
	if _, err := services.Create(ctx, second, metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		return fmt.Errorf("an address twice: %v", err)
	}
	if err := services.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		return err
	}
	_, err = services.Create(ctx, second, metav1.CreateOptions{})
	return err
}

func propagation(ctx context.Context, c *clients) error {
	deployments := c.typed.AppsV1().Deployments(c.namespace)
	if _, err := deployments.Create(ctx, deployment("web"), metav1.CreateOptions{}); err != nil {
		return err
	}
	foreground := metav1.DeletePropagationForeground
	if err := deployments.Delete(ctx, "web", metav1.DeleteOptions{PropagationPolicy: &foreground}); err != nil {
		return err
	}
	got, err := deployments.Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if len(got.Finalizers) != 1 || got.Finalizers[0] != metav1.FinalizerDeleteDependents {
		return fmt.Errorf("finalizers: %v", got.Finalizers)
	}
	return nil
}
