import { readFileSync } from 'node:fs'
import { validate as deployment } from 'kubernetes-models/_schemas/IoK8sApiAppsV1Deployment'
import { validate as statefulSet } from 'kubernetes-models/_schemas/IoK8sApiAppsV1StatefulSet'
import { validate as job } from 'kubernetes-models/_schemas/IoK8sApiBatchV1Job'
import { validate as configMap } from 'kubernetes-models/_schemas/IoK8sApiCoreV1ConfigMap'
import { validate as secret } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Secret'
import { validate as service } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Service'
import { parseAllDocuments } from 'yaml'
import { expect, test } from 'vitest'
import { variableNames } from '../../src/config.ts'

/** The manifests, checked against the schemas of Kubernetes, without a cluster. */
type Manifest = {
  kind: string
  metadata: { name: string }
  data?: Record<string, string>
  stringData?: Record<string, string>
  spec?: {
    selector?: { app?: string }
    template?: {
      metadata?: { labels?: { app: string } }
      spec: { containers: { args: string[] }[] }
    }
  }
}

const text = readFileSync('deploy/kubernetes.yaml', 'utf8')
const manifests = parseAllDocuments(text).map((one) => one.toJS() as Manifest)
const validators = {
  ConfigMap: configMap,
  Deployment: deployment,
  Job: job,
  Secret: secret,
  Service: service,
  StatefulSet: statefulSet,
}

/** `errors` is set by a call. */
type Validator = ((value: unknown) => boolean) & { errors?: unknown[] }

/** Returns what a schema says about a manifest, and the fields that it does not have. */
function faultsOf(manifest: Manifest): unknown[] {
  const unknown = new Set(pathsOf(manifest, ''))
  const validate: Validator = validators[manifest.kind as keyof typeof validators]
  // A validator accepts unknown fields, but it reads only the fields of its schema.
  const isValid = validate(watch(manifest, '', (path) => unknown.delete(path)))
  return [...(isValid ? [] : (validate.errors ?? [])), ...unknown]
}

function pathsOf(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, child]) => {
    const its = `${path}/${key}`
    return [its, ...pathsOf(child, its)]
  })
}

function watch<T extends object>(value: T, path: string, onRead: (path: string) => void): T {
  return new Proxy(value, {
    get(target, key) {
      const child = Reflect.get(target, key) as unknown
      if (typeof key === 'symbol') return child
      onRead(`${path}/${key}`)
      const isObject = typeof child === 'object' && child !== null
      return isObject ? watch(child, `${path}/${key}`, onRead) : child
    },
  })
}

test('every manifest is valid, and has only fields that exist', () => {
  for (const manifest of manifests) {
    expect([manifest.metadata.name, ...faultsOf(manifest)]).toEqual([manifest.metadata.name])
  }
  const ports = [{ port: 'x', protcol: 'TCP' }]
  const wrong = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'wrong' }, spec: { ports } }
  expect(faultsOf(wrong as Manifest)).toEqual([
    expect.objectContaining({ instancePath: '/spec/ports/0/port' }),
    '/spec/ports/0/protcol',
  ])
})

test('the manifests use settings and commands that exist, and services find their pods', () => {
  const settings = manifests.flatMap(({ data, stringData }) =>
    Object.keys({ ...data, ...stringData }),
  )
  expect(settings.filter((name) => !variableNames.includes(name))).toEqual([])
  const main = readFileSync('src/main.ts', 'utf8')
  const containers = manifests.flatMap(({ spec }) => spec?.template?.spec.containers ?? [])
  expect(containers.length).toBe(5)
  for (const { args } of containers) expect(main).toMatch(new RegExp(`^  ${args[0]}: \\{$`, 'm'))
  const labels = manifests.map(({ spec }) => spec?.template?.metadata?.labels?.app)
  const services = manifests.filter(({ kind }) => kind === 'Service')
  expect(services.length).toBe(2)
  for (const { spec } of services) expect(labels).toContain(spec?.selector?.app)
})
