import { Ajv2020 } from 'ajv/dist/2020.js'

/** The parts of an OpenAPI document that answers are held against. */
export type ContractDocument = {
  paths: Record<string, Record<string, ContractOperation>>
  components: { schemas: Record<string, object> }
}

/** One operation of the document. */
type ContractOperation = {
  operationId: string
  security: Record<string, string[]>[]
  parameters: { name: string; in: string; required: boolean }[]
  responses: Record<string, ContractResponse>
}

/** One answer of the document. */
export type ContractResponse = {
  headers?: Record<string, object>
  content?: Record<string, { schema: object }>
  'x-problems'?: string[]
}

/** Says what is wrong with a value by a schema of the document; empty when nothing is. */
export type Faults = (schema: object, value: unknown) => string

/**
 * Holds values against the schemas of a document. Clients must bear new fields; our own tests must
 * not, so here every object is closed.
 */
export function faultsBy(document: ContractDocument): Faults {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: 'contract', components: closed(document.components) })
  return (schema, value) => {
    const absolute = JSON.stringify(closed(schema)).replaceAll('"#/', '"contract#/')
    const check = ajv.compile(JSON.parse(absolute) as object)
    return check(value) ? '' : ajv.errorsText(check.errors)
  }
}

function closed(schema: unknown): object {
  return JSON.parse(JSON.stringify(schema), (_name, value: unknown) =>
    typeof value === 'object' &&
    value !== null &&
    'properties' in value &&
    'type' in value &&
    !('additionalProperties' in value)
      ? { ...value, additionalProperties: false }
      : value,
  ) as object
}
