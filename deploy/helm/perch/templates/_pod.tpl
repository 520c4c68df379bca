{{/* Where the Secret's keys are files. */}}
{{- define "perch.secretDir" -}}/run/secrets/perch{{- end -}}

{{/* What every container may do: nothing but run. */}}
{{- define "perch.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
privileged: false
capabilities:
  drop: [ALL]
{{- end -}}

{{/* What every pod has in common. Takes root and component, and release for workers. */}}
{{- define "perch.podCommon" -}}
{{- $pod := .root.Values.pod -}}
serviceAccountName: {{ .root.Values.serviceAccountName }}
automountServiceAccountToken: false
# Kubernetes would set variables that begin with PERCH_, which the server refuses.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  seccompProfile:
    type: RuntimeDefault
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with $pod.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $pod.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $pod.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $pod.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Spread over zones and nodes, as far as there are any. Takes what perch.selectorLabels takes. */}}
{{- define "perch.spread" -}}
topologySpreadConstraints:
  {{- $labels := include "perch.selectorLabels" . }}
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- $labels | nindent 8 }}
  {{- end }}
{{- end -}}

{{/* Labels and annotations of a pod. Takes what perch.selectorLabels takes. */}}
{{- define "perch.podMetadata" -}}
labels:
  {{- include "perch.selectorLabels" . | nindent 2 }}
  {{- with .root.Values.pod.labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .root.Values.pod.annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The volume with the files that a process needs, and no others. Takes root and keys. */}}
{{- define "perch.secretVolume" -}}
- name: secrets
  secret:
    secretName: {{ .root.Values.existingSecret }}
    # Readable for any user that the pod runs as. The pod has no other user.
    defaultMode: 292 # 0444
    items:
      {{- range .keys | uniq | sortAlpha }}
      - key: {{ . }}
        path: {{ . }}
      {{- end }}
{{- end -}}

{{- define "perch.secretMount" -}}
- name: secrets
  mountPath: {{ include "perch.secretDir" . }}
  readOnly: true
{{- end -}}

{{/* Settings that serve, work and migrate have. Takes root and release. */}}
{{- define "perch.databaseSettings" -}}
- name: PERCH_RELEASE
  value: {{ .release | quote }}
- name: PERCH_START_WAIT_SECONDS
  value: "120"
- name: PERCH_MASTER_KEY_FILE
  value: {{ include "perch.secretDir" .root }}/master-key
- name: PERCH_DATABASE_URL_FILE
  value: {{ include "perch.secretDir" .root }}/database-url
{{- end -}}

{{/* Settings that serve and work have. Takes root and release. */}}
{{- define "perch.serverSettings" -}}
{{ include "perch.databaseSettings" . }}
- name: PERCH_VALKEY_URL_FILE
  value: {{ include "perch.secretDir" .root }}/valkey-url
- name: PERCH_RESTATE_INGRESS_URL
  value: {{ join "," .root.Values.engine.ingressUrls | quote }}
- name: PERCH_RESTATE_ADMIN_URL
  value: {{ join "," .root.Values.engine.adminUrls | quote }}
- name: PERCH_METRICS_HOST
  value: {{ .root.Values.listenAddress | quote }}
- name: PERCH_METRICS_PORT
  value: "9464"
{{- range $name, $value := .root.Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- range $name, $key := .root.Values.secretFiles }}
- name: {{ $name }}
  value: {{ include "perch.secretDir" $.root }}/{{ $key }}
{{- end }}
{{- end -}}

{{/* Keys of the Secret that serve and work read, as a list in YAML. Takes root. */}}
{{- define "perch.serverKeys" -}}
{{- concat (list "master-key" "database-url" "valkey-url") (values .root.Values.secretFiles) .root.Values.additionalSecretKeys | toYaml -}}
{{- end -}}
