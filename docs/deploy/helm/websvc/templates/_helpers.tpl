{{- define "websvc.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- define "websvc.selector" -}}
app.kubernetes.io/name: websvc
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "websvc.metadata" -}}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "websvc.selector" . | nindent 2 }}
  app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .Release.Service }}
  helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- /* "yes" if the pods share their database, so that there may be several. */ -}}
{{- define "websvc.cluster" -}}
{{- $shared := and (ne .Values.database.kind "embedded") (ne .Values.search.kind "embedded") .Values.s3.endpoint -}}
{{- if and (or .Values.autoscaling.enabled (gt (int .Values.replicas) 1)) (not $shared) -}}
{{- fail "Several replicas need what they share: set database.kind and search.kind to something else than embedded, and s3.endpoint. For one node, set replicas to 1 and autoscaling.enabled to false." -}}
{{- end -}}
{{- if and (eq .Values.search.kind "external") (not .Values.search.url) -}}
{{- fail "search.kind is external, but search.url is empty: set it to the URL of Elasticsearch or OpenSearch." -}}
{{- end -}}
{{- if ne .Values.database.kind "embedded" }}yes{{ end -}}
{{- end }}

{{- /* Secrets whose `ca.crt` the service trusts: for the database, and for the index and the bucket. */ -}}
{{- define "websvc.databaseCa" -}}
{{- if eq .Values.database.kind "cloudnativepg" }}{{ include "websvc.name" . }}-db-ca
{{- else if eq .Values.database.kind "external" }}{{ .Values.database.caSecret }}{{ end -}}
{{- end }}

{{- define "websvc.searchCa" -}}
{{- if eq .Values.search.kind "opensearch" }}{{ include "websvc.name" . }}-search-http-cert
{{- else }}{{ .Values.search.caSecret }}{{ end -}}
{{- end }}

{{- /* A variable whose value is TOML, for a key of the configuration. */ -}}
{{- define "websvc.variable" -}}
- name: {{ index . 0 }}
  value: {{ index . 1 | toJson | quote }}
{{- end }}

{{- /* A variable from the secret. */ -}}
{{- define "websvc.secret" -}}
- name: {{ index . 1 }}
  valueFrom:
    secretKeyRef: { name: {{ (index . 0).Values.secretName }}, key: {{ index . 2 }} }
{{- end }}
