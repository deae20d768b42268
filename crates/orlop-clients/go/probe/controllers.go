package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

var controllerSteps = []step{
	{"leader election", leaderElection},
	{"events are recorded and counted", recordEvents},
	{"controller-runtime client", runtimeClient},
	{"controller-runtime manager with a controller", runtimeManager},
}

// scheme knows every built-in kind.
var scheme = clientscheme.Scheme

var nothing = fields.Everything()

const pollInterval = 10 * time.Millisecond

func init() {
	log.SetLogger(zap.New(zap.WriteTo(io.Discard)))
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
}

// leaderElection lets two candidates run; the second leads when the first has let go.
func leaderElection(ctx context.Context, c *clients) error {
	leaders := make(chan string, 2)
	run := func(ctx context.Context, name string) {
		lock := &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: "lock", Namespace: c.namespace},
			Client:     c.typed.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: name},
		}
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: lock, ReleaseOnCancel: true,
			LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 100 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { leaders <- name },
				OnStoppedLeading: func() {},
			},
		})
	}
	first, resign := context.WithCancel(ctx)
	defer resign()
	go run(first, "one")
	if err := expect("first leader", <-leaders, "one"); err != nil {
		return err
	}
	second, cancel := context.WithCancel(ctx)
	defer cancel()
	go run(second, "two")
	resign()
	select {
	case name := <-leaders:
		return expect("second leader", name, "two")
	case <-ctx.Done():
		return errors.New("nobody leads")
	}
}

func recordEvents(ctx context.Context, c *clients) error {
	made, err := c.typed.CoreV1().Pods(c.namespace).Create(ctx, pod("a"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&eventSink{c})
	recorder := broadcaster.NewRecorder(scheme, corev1.EventSource{Component: "probe"})
	for range 3 {
		recorder.Eventf(made, corev1.EventTypeWarning, "Probed", "looked at %s", "it")
	}
	options := metav1.ListOptions{FieldSelector: "involvedObject.name=a,reason=Probed,type=Warning"}
	got := "none"
	err = wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		events, err := c.typed.CoreV1().Events(c.namespace).List(ctx, options)
		if err != nil || len(events.Items) != 1 {
			return false, err
		}
		got = fmt.Sprint(events.Items[0].Count)
		return got == "3", nil
	})
	if err != nil {
		return fmt.Errorf("events: %s: %w", got, err)
	}
	return nil
}

// eventSink is what a broadcaster wants of a client.
type eventSink struct{ *clients }

func (s *eventSink) Create(event *corev1.Event) (*corev1.Event, error) {
	return s.typed.CoreV1().Events(event.Namespace).Create(context.Background(), event, metav1.CreateOptions{})
}

func (s *eventSink) Update(event *corev1.Event) (*corev1.Event, error) {
	return s.typed.CoreV1().Events(event.Namespace).Update(context.Background(), event, metav1.UpdateOptions{})
}

func (s *eventSink) Patch(event *corev1.Event, patch []byte) (*corev1.Event, error) {
	events := s.typed.CoreV1().Events(event.Namespace)
	return events.Patch(context.Background(), event.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
}

func runtimeClient(ctx context.Context, c *clients) error {
	direct, err := client.New(c.config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	made := configMap("a", nil)
	made.Namespace = c.namespace
	if err := direct.Create(ctx, made); err != nil {
		return err
	}
	operation, err := controllerutil.CreateOrUpdate(ctx, direct, made, func() error {
		made.Data["b"] = "2"
		return nil
	})
	if err != nil {
		return err
	}
	if err := expect("operation", operation, controllerutil.OperationResultUpdated); err != nil {
		return err
	}
	before := made.DeepCopy()
	made.Data["c"] = "3"
	if err := direct.Patch(ctx, made, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	list := &corev1.ConfigMapList{}
	if err := direct.List(ctx, list, client.InNamespace(c.namespace), client.Limit(10)); err != nil {
		return err
	}
	if err := expect("items", len(list.Items), 1); err != nil {
		return err
	}
	if err := direct.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(c.namespace)); err != nil {
		return err
	}
	return expect("gone", apierrors.IsNotFound(direct.Get(ctx, client.ObjectKeyFromObject(made), made)), true)
}

// copier keeps a Secret with the same data for each ConfigMap that asks for one.
type copier struct{ client.Client }

func (r *copier) Reconcile(ctx context.Context, request controllerruntime.Request) (controllerruntime.Result, error) {
	from := &corev1.ConfigMap{}
	if err := r.Get(ctx, request.NamespacedName, from); err != nil {
		return controllerruntime.Result{}, client.IgnoreNotFound(err)
	}
	to := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: from.Name, Namespace: from.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, to, func() error {
		to.StringData = from.Data
		return controllerutil.SetControllerReference(from, to, r.Scheme())
	})
	return controllerruntime.Result{}, err
}

func runtimeManager(ctx context.Context, c *clients) error {
	manager, err := controllerruntime.NewManager(c.config, controllerruntime.Options{
		Scheme:                  scheme,
		Metrics:                 server.Options{BindAddress: "0"},
		Cache:                   cache.Options{DefaultNamespaces: map[string]cache.Config{c.namespace: {}}},
		LeaderElection:          true,
		LeaderElectionID:        "probe",
		LeaderElectionNamespace: c.namespace,
	})
	if err != nil {
		return err
	}
	controller := controllerruntime.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{})
	if err := controller.Complete(&copier{manager.GetClient()}); err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(running) }()
	maps, secrets := c.typed.CoreV1().ConfigMaps(c.namespace), c.typed.CoreV1().Secrets(c.namespace)
	made, err := maps.Create(ctx, configMap("a", nil), metav1.CreateOptions{})
	if err != nil {
		stop()
		return err
	}
	err = waitForSecret(ctx, c, "1")
	if err == nil {
		made.Data["a"] = "2"
		_, err = maps.Update(ctx, made, metav1.UpdateOptions{})
	}
	if err == nil {
		err = waitForSecret(ctx, c, "2")
	}
	// The controller owns the secret, so that it comes again.
	if err == nil {
		err = secrets.Delete(ctx, "a", metav1.DeleteOptions{})
	}
	if err == nil {
		err = waitForSecret(ctx, c, "2")
	}
	stop()
	return errors.Join(err, <-ended)
}

func waitForSecret(ctx context.Context, c *clients, want string) error {
	secrets := c.typed.CoreV1().Secrets(c.namespace)
	return wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		got, err := secrets.Get(ctx, "a", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil && string(got.Data["a"]) == want, err
	})
}
