// Command go-probe tries what users of client-go and controller-runtime do, against the server of
// the current kubeconfig. It prints `ok NAME` or `FAIL NAME: why` for each thing, in namespaces of
// its own, and ends with a code that is not zero if anything failed.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// stepLimit bounds one thing that is tried.
const stepLimit = 30 * time.Second

// clients are all that a step may use. Each step has a namespace of its own.
type clients struct {
	config    *rest.Config
	typed     *kubernetes.Clientset
	json      *kubernetes.Clientset
	dynamic   *dynamic.DynamicClient
	metadata  metadata.Interface
	discovery *discovery.DiscoveryClient
	namespace string
}

type step struct {
	name string
	run  func(context.Context, *clients) error
}

func main() {
	all, err := connect()
	if err != nil {
		fmt.Printf("FAIL connect: %v\n", err)
		os.Exit(1)
	}
	steps := append([]step{}, typedSteps...)
	steps = append(steps, untypedSteps...)
	steps = append(steps, watchSteps...)
	steps = append(steps, controllerSteps...)
	steps = append(steps, customSteps...)
	failed := false
	for _, step := range steps {
		if err := try(all, step); err != nil {
			fmt.Printf("FAIL %s: %v\n", step.name, err)
			failed = true
			continue
		}
		fmt.Printf("ok %s\n", step.name)
	}
	if failed {
		os.Exit(1)
	}
}

func try(all *clients, step step) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), stepLimit)
	defer cancel()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "go-probe-"}}
	namespace, err = all.typed.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create namespace: %w", err)
	}
	own := *all
	own.namespace = namespace.Name
	return step.run(ctx, &own)
}

// connect makes the clients: protobuf for the typed one, as controllers use it, and JSON.
func connect() (*clients, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = -1, -1
	protobuf := rest.CopyConfig(config)
	protobuf.ContentType = runtime.ContentTypeProtobuf
	protobuf.AcceptContentTypes = runtime.ContentTypeProtobuf
	all := &clients{config: config}
	var errs [5]error
	all.typed, errs[0] = kubernetes.NewForConfig(protobuf)
	all.json, errs[1] = kubernetes.NewForConfig(config)
	all.dynamic, errs[2] = dynamic.NewForConfig(config)
	all.metadata, errs[3] = metadata.NewForConfig(config)
	all.discovery, errs[4] = discovery.NewDiscoveryClientForConfig(config)
	return all, errors.Join(errs[:]...)
}

// expect returns an error if the two differ.
func expect[T comparable](what string, got, want T) error {
	if got != want {
		return fmt.Errorf("%s: got %v, want %v", what, got, want)
	}
	return nil
}
