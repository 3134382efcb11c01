import { Ajv2020 } from 'ajv/dist/2020.js'

/** The parts of an OpenAPI document that are used to check answers. */
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

/** Returns the errors of a value according to a schema, as text; empty when the value is valid. */
export type Faults = (schema: object, value: unknown) => string

/**
 * Validates values against the schemas of a document. Clients must accept new fields, but our own
 * tests must not, so every object is closed here.
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
