{{/* The beginning of every name. */}}
{{- define "perch.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains "perch" .Release.Name -}}
{{- .Release.Name -}}
{{- else -}}
{{- printf "%s-perch" .Release.Name -}}
{{- end -}}
{{- end -}}

{{/* The release whose workers take new runs. */}}
{{- define "perch.release" -}}
{{- .Values.release | default .Values.image.tag | default .Chart.AppVersion -}}
{{- end -}}

{{/* Name of a release's Deployment and Service: a Service's name has no dots. Takes root and release. */}}
{{- define "perch.workerName" -}}
{{- printf "%s-worker-%s" (include "perch.fullname" .root) (.release | replace "." "-" | replace "_" "-") -}}
{{- end -}}

{{/* Takes root, tag and digest. */}}
{{- define "perch.image" -}}
{{- printf "%s:%s" .root.Values.image.repository .tag -}}
{{- with .digest }}@{{ . }}{{ end -}}
{{- end -}}

{{/*
Labels that select pods. The labels of a pod name nothing that changes with the chart: a release whose workers go on
beside a newer one must not be restarted by the upgrade. Takes root and component, and release for workers.
*/}}
{{- define "perch.selectorLabels" -}}
app.kubernetes.io/name: perch
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- with .release }}
perch/release: {{ . | quote }}
{{- end }}
{{- end -}}

{{/* Labels of an object. Takes what perch.selectorLabels takes. */}}
{{- define "perch.labels" -}}
{{ include "perch.selectorLabels" . }}
app.kubernetes.io/version: {{ .release | default (include "perch.release" .root) | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | quote }}
{{- end -}}
