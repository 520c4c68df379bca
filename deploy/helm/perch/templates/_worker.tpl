{{/*
The workers of one release: Deployment, Service, disruption budget. Takes root, release, tag, digest, and replicas
unless something else decides about their number.
*/}}
{{- define "perch.worker" -}}
{{- $root := .root -}}
{{- $name := include "perch.workerName" . -}}
{{- $scope := dict "root" $root "component" "worker" "release" .release -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "perch.labels" $scope | nindent 4 }}
spec:
  {{- if hasKey . "replicas" }}
  replicas: {{ .replicas }}
  {{- end }}
  revisionHistoryLimit: 3
  strategy:
    rollingUpdate:
      maxUnavailable: 0
      maxSurge: 1
  selector:
    matchLabels:
      {{- include "perch.selectorLabels" $scope | nindent 6 }}
  template:
    metadata:
      {{- include "perch.podMetadata" $scope | nindent 6 }}
    spec:
      {{- include "perch.podCommon" $scope | nindent 6 }}
      {{- include "perch.spread" $scope | nindent 6 }}
      # PERCH_DRAIN_SECONDS, and the other steps of a shutdown.
      terminationGracePeriodSeconds: {{ add $root.Values.workers.drainSeconds 120 }}
      containers:
        - name: work
          image: {{ include "perch.image" . }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          args: [work]
          env:
            {{- include "perch.serverSettings" $scope | nindent 12 }}
            - name: PERCH_RESTATE_IDENTITY_KEYS_FILE
              value: {{ include "perch.secretDir" $root }}/engine-public-key
            - name: PERCH_WORKER_HOST
              value: {{ $root.Values.listenAddress | quote }}
            - name: PERCH_WORKER_PORT
              value: "7401"
            - name: PERCH_WORKER_URL
              value: http://{{ $name }}.{{ $root.Release.Namespace }}.svc:7401
            - name: PERCH_DRAIN_SECONDS
              value: {{ $root.Values.workers.drainSeconds | quote }}
          ports:
            - { name: worker, containerPort: 7401 }
            - { name: metrics, containerPort: 9464 }
          # Longer than PERCH_START_WAIT_SECONDS, after which the process itself reports the missing dependency.
          startupProbe:
            httpGet: { path: /healthz, port: worker }
            periodSeconds: 2
            timeoutSeconds: 2
            failureThreshold: 90
          # Also asked while the pod waits for its runs: the Service reaches it until it is gone.
          readinessProbe:
            httpGet: { path: /readyz, port: worker }
            periodSeconds: 5
            timeoutSeconds: 3
            failureThreshold: 2
          livenessProbe:
            httpGet: { path: /healthz, port: worker }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          lifecycle:
            # The engine's new connections go to other pods before this one refuses them.
            preStop:
              sleep: { seconds: 5 }
          securityContext:
            {{- include "perch.containerSecurity" $root | nindent 12 }}
          resources:
            {{- toYaml $root.Values.workers.resources | nindent 12 }}
          volumeMounts:
            {{- include "perch.secretMount" $root | nindent 12 }}
      volumes:
        {{- $keys := append (include "perch.serverKeys" $scope | fromYamlArray) "engine-public-key" }}
        {{- include "perch.secretVolume" (dict "root" $root "keys" $keys) | nindent 8 }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "perch.labels" $scope | nindent 4 }}
  annotations:
    # Pods that wait for their runs are of no use if the engine cannot reach them, so Helm never removes their Service.
    helm.sh/resource-policy: keep
spec:
  # One address for all pods, and each new connection goes to any of them. The names of a headless Service are sorted by
  # the resolver, so that all connections of an engine node would go to the same pod.
  type: ClusterIP
  # While all pods are about to stop, connections still go to them.
  publishNotReadyAddresses: false
  selector:
    {{- include "perch.selectorLabels" $scope | nindent 4 }}
  ports:
    - name: worker
      port: 7401
      targetPort: worker
      # HTTP/2 without TLS, for meshes that spread requests rather than connections.
      appProtocol: kubernetes.io/h2c
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "perch.labels" $scope | nindent 4 }}
spec:
  maxUnavailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "perch.selectorLabels" $scope | nindent 6 }}
{{- end -}}
