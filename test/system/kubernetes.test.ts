import { readFileSync } from 'node:fs'
import { Deployment, StatefulSet } from 'kubernetes-models/apps/v1'
import { Job } from 'kubernetes-models/batch/v1'
import { ConfigMap, Secret, Service } from 'kubernetes-models/v1'
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
const models = { ConfigMap, Deployment, Job, Secret, Service, StatefulSet }

test('every manifest is valid', () => {
  for (const manifest of manifests) {
    const Model = models[manifest.kind as keyof typeof models] as unknown as new (
      data: Manifest,
    ) => { validate: () => void }
    expect(() => new Model(manifest).validate(), manifest.metadata.name).not.toThrow()
  }
  expect(() => new Service({ spec: { ports: [{ port: 'x' as never }] } }).validate()).toThrow()
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
