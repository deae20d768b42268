package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

var watchSteps = []step{
	{"watch from a list", watchFromList},
	{"watch with a selector that objects leave", watchSelector},
	{"streaming list ends with its bookmark", streamingList},
	{"watch of an old resource version", watchExpired},
	{"retry watcher", retryWatcher},
	{"wait until a condition", untilCondition},
	{"shared informers", sharedInformers},
	{"dynamic and metadata informers", untypedInformers},
}

// next returns the next event that is not a bookmark.
func next(ctx context.Context, events watch.Interface) (watch.Event, error) {
	for {
		select {
		case <-ctx.Done():
			return watch.Event{}, errors.New("no event came")
		case event, open := <-events.ResultChan():
			if !open {
				return event, errors.New("the watch ended")
			}
			if event.Type != watch.Bookmark {
				return event, nil
			}
		}
	}
}

// expectEvents compares the next events with strings such as `ADDED a`.
func expectEvents(ctx context.Context, events watch.Interface, want ...string) error {
	for _, want := range want {
		event, err := next(ctx, events)
		if err != nil {
			return fmt.Errorf("waiting for %s: %w", want, err)
		}
		object, err := meta.Accessor(event.Object)
		if err != nil {
			return fmt.Errorf("waiting for %s: %v: %+v", want, err, event.Object)
		}
		if err := expect("event", fmt.Sprintf("%s %s", event.Type, object.GetName()), want); err != nil {
			return err
		}
	}
	return nil
}

func watchFromList(ctx context.Context, c *clients) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	if _, err := maps.Create(ctx, configMap("before", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	list, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	options := metav1.ListOptions{ResourceVersion: list.ResourceVersion, AllowWatchBookmarks: true}
	events, err := maps.Watch(ctx, options)
	if err != nil {
		return err
	}
	defer events.Stop()
	made, err := maps.Create(ctx, configMap("a", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Data["a"] = "2"
	if _, err := maps.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := maps.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		return err
	}
	if err := expectEvents(ctx, events, "ADDED a", "MODIFIED a", "DELETED a"); err != nil {
		return err
	}
	// From nowhere: what is there comes first, as if it were just added.
	fresh, err := maps.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	defer fresh.Stop()
	return expectEvents(ctx, fresh, "ADDED before")
}

func watchSelector(ctx context.Context, c *clients) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	events, err := maps.Watch(ctx, metav1.ListOptions{LabelSelector: "in=yes"})
	if err != nil {
		return err
	}
	defer events.Stop()
	if _, err := maps.Create(ctx, configMap("other", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := maps.Create(ctx, configMap("a", map[string]string{"in": "yes"}), metav1.CreateOptions{}); err != nil {
		return err
	}
	for _, value := range []string{"no", "yes"} {
		patch := fmt.Appendf(nil, `{"metadata":{"labels":{"in":%q}}}`, value)
		if _, err := maps.Patch(ctx, "a", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	return expectEvents(ctx, events, "ADDED a", "DELETED a", "ADDED a")
}

func streamingList(ctx context.Context, c *clients) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	for _, name := range []string{"a", "b"} {
		if _, err := maps.Create(ctx, configMap(name, nil), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	send := true
	events, err := maps.Watch(ctx, metav1.ListOptions{
		SendInitialEvents: &send, AllowWatchBookmarks: true,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	if err != nil {
		return err
	}
	defer events.Stop()
	var came []string
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("no bookmark after %v", came)
		case event, open := <-events.ResultChan():
			if !open {
				return errors.New("the watch ended")
			}
			object, err := meta.Accessor(event.Object)
			if err != nil {
				return fmt.Errorf("%w: %+v", err, event.Object)
			}
			if event.Type != watch.Bookmark {
				came = append(came, object.GetName())
				continue
			}
			if object.GetAnnotations()[metav1.InitialEventsAnnotationKey] != "true" {
				continue
			}
			return expect("objects before the bookmark", fmt.Sprint(came), "[a b]")
		}
	}
}

func watchExpired(ctx context.Context, c *clients) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	if _, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: "nonsense"}); err == nil {
		return errors.New("a resource version that is no number")
	}
	// The client would try again and again, as the answer tells it to.
	request := c.typed.CoreV1().RESTClient().Get().Namespace(c.namespace).Resource("configmaps").MaxRetries(0)
	err := request.Param("resourceVersion", "999999999").Do(ctx).Error()
	if !apierrors.IsTimeout(err) {
		return fmt.Errorf("a resource version of the future: %v", err)
	}
	return nil
}

func retryWatcher(ctx context.Context, c *clients) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	list, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	source := &cache.ListWatch{WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		// Each watch ends after a second, so that the watcher has to go on by itself.
		options.TimeoutSeconds = new(int64(1))
		return maps.Watch(ctx, options)
	}}
	events, err := watchtools.NewRetryWatcherWithContext(ctx, list.ResourceVersion, source)
	if err != nil {
		return err
	}
	defer events.Stop()
	for round := range 3 {
		name := fmt.Sprintf("map-%d", round)
		if _, err := maps.Create(ctx, configMap(name, nil), metav1.CreateOptions{}); err != nil {
			return err
		}
		if err := expectEvents(ctx, events, "ADDED "+name); err != nil {
			return err
		}
		// Something must happen in each life of the watch.
		if err := wait.PollUntilContextTimeout(ctx, stepLimit/30, stepLimit/20, false, never); !wait.Interrupted(err) {
			return err
		}
	}
	return nil
}

func never(context.Context) (bool, error) { return false, nil }

func untilCondition(ctx context.Context, c *clients) error {
	pods := c.typed.CoreV1().Pods(c.namespace)
	if _, err := pods.Create(ctx, pod("a"), metav1.CreateOptions{}); err != nil {
		return err
	}
	go func() {
		running := []byte(`{"status":{"phase":"Running"}}`)
		_, _ = pods.Patch(ctx, "a", types.MergePatchType, running, metav1.PatchOptions{}, "status")
	}()
	source := cache.NewListWatchFromClient(c.typed.CoreV1().RESTClient(), "pods", c.namespace, nothing)
	_, err := watchtools.UntilWithSync(ctx, source, &corev1.Pod{}, nil, func(event watch.Event) (bool, error) {
		return event.Object.(*corev1.Pod).Status.Phase == corev1.PodRunning, nil
	})
	return err
}

// counts collects what handlers of informers are told.
type counts struct {
	mutex  sync.Mutex
	events map[string]int
}

func (c *counts) add(what string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.events[what]++
}

func (c *counts) wait(ctx context.Context, want string) error {
	got := ""
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(context.Context) (bool, error) {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		got = fmt.Sprint(c.events)
		return got == want, nil
	})
	if err != nil {
		return fmt.Errorf("got %s, want %s", got, want)
	}
	return nil
}

func (c *counts) handler() cache.ResourceEventHandlerFuncs {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { c.add("add") },
		UpdateFunc: func(any, any) { c.add("update") },
		DeleteFunc: func(any) { c.add("delete") },
	}
}

func sharedInformers(ctx context.Context, c *clients) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	for _, name := range []string{"a", "b"} {
		if _, err := maps.Create(ctx, configMap(name, nil), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	factory := informers.NewSharedInformerFactoryWithOptions(c.typed, 0, informers.WithNamespace(c.namespace))
	informer := factory.Core().V1().ConfigMaps()
	seen := &counts{events: map[string]int{}}
	if _, err := informer.Informer().AddEventHandler(seen.handler()); err != nil {
		return err
	}
	factory.StartWithContext(ctx)
	if result := factory.WaitForCacheSyncWithContext(ctx); result.Err != nil {
		return result.Err
	}
	if err := seen.wait(ctx, "map[add:2]"); err != nil {
		return err
	}
	got, err := informer.Lister().ConfigMaps(c.namespace).Get("a")
	if err != nil {
		return err
	}
	changed := got.DeepCopy()
	changed.Data["a"] = "2"
	if _, err := maps.Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := maps.Delete(ctx, "b", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return seen.wait(ctx, "map[add:2 delete:1 update:1]")
}

func untypedInformers(ctx context.Context, c *clients) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	if _, err := maps.Create(ctx, configMap("a", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	seen := &counts{events: map[string]int{}}
	objects := dynamicinformer.NewFilteredDynamicSharedInformerFactory(c.dynamic, 0, c.namespace, nil)
	heads := metadatainformer.NewFilteredSharedInformerFactory(c.metadata, 0, c.namespace, nil)
	for _, informer := range []cache.SharedIndexInformer{
		objects.ForResource(configMaps).Informer(), heads.ForResource(configMaps).Informer(),
	} {
		if _, err := informer.AddEventHandler(seen.handler()); err != nil {
			return err
		}
	}
	objects.Start(ctx.Done())
	heads.Start(ctx.Done())
	if err := seen.wait(ctx, "map[add:2]"); err != nil {
		return err
	}
	if err := maps.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return seen.wait(ctx, "map[add:2 delete:2]")
}
