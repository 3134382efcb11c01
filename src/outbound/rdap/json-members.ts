/** A JSON object of a stranger's, its members still unread. */
export type JsonObject = Readonly<Record<string, unknown>>

/** The value when it is a JSON object. */
export function objectOf(value: unknown): JsonObject | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as JsonObject) : undefined
}

/** The value when it is a list; an empty one otherwise. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The objects of a list; what else is in it is passed over. */
export function objectsOf(value: unknown): JsonObject[] {
  return listOf(value)
    .map(objectOf)
    .filter((member) => member !== undefined)
}

/** The value when it is text with something in it. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

/** The texts of a list, or of a single text that stands in its place. */
export function textsOf(value: unknown): string[] {
  return (typeof value === 'string' ? [value] : listOf(value))
    .map(textOf)
    .filter((text) => text !== undefined)
}
