import { z } from 'zod'

/** An instant as programs get it. */
export const instant = z.iso.datetime().describe('An instant in UTC (RFC 3339).')

/** The id of a report. */
export const reportId = z.uuid().describe('A version 7 UUID: ids sort by time.')

/** A list that nobody changes on its way out. */
export function list<Item extends z.ZodType>(item: Item) {
  return z.array(item).readonly()
}
