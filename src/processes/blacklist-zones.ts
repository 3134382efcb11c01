import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { reasonOf, UsageError } from '../errors.ts'
import { type BlacklistZone, knownZones, blacklistCategories } from '../mail/dnsbl.ts'

const zoneName = z
  .string()
  .max(200)
  .regex(/^([a-z0-9_-]{1,63}\.)+[a-z0-9-]{2,63}$/, 'is not the name of a zone in lower case')

const code = z
  .string()
  .regex(/^127(\.(\d{1,3}|\*)){3}$|^any$/, 'is neither an address in 127.0.0.0/8 nor "any"')

const zoneSchema = z.strictObject({
  zone: zoneName,
  lists: z.enum(['addresses', 'domains', 'both']),
  answers: z
    .array(
      z.strictObject({
        match: z.union([code, z.int().min(1).max(255)]),
        category: z.enum(blacklistCategories),
        meaning: z.string().min(1).max(200),
      }),
    )
    .min(1)
    .max(100),
  refusals: z.array(code).exactOptional(),
  takesWholeNames: z.boolean().exactOptional(),
  testDomain: z.string().max(200).exactOptional(),
})

const ownList = /^(.*)=(addresses|domains|both)$/

/**
 * Reads the entries of BLACKLISTS: known zones, `zone=addresses|domains|both`, or `@file` with an
 * array of zones.
 *
 * @throws UsageError listing every invalid entry
 */
export async function readZones(entries: readonly string[]): Promise<BlacklistZone[]> {
  const read = await Promise.all(entries.map(readEntry))
  const zones = read.flatMap((one) => one.zones.map(keyApart))
  const names = zones.map(({ zone }) => zone)
  const twice = new Set(names.filter((name, at) => names.indexOf(name) !== at))
  const problems = [
    ...read.flatMap((one) => one.problems),
    ...[...twice].map((name) => `${name} is named twice`),
  ]
  if (problems.length === 0) return zones
  throw new UsageError(problems.map((problem) => `BLACKLISTS: ${problem} (see .env.example)`))
}

/** A label that a list gives to each of its customers: long, without words. */
const keyLabel = /^([a-z0-9]{20,63})\.(.+)$/

/** Takes the key of a customer out of the name of a zone, because the name is shown. */
function keyApart(zone: BlacklistZone): BlacklistZone {
  const [, key, rest] = keyLabel.exec(zone.zone) ?? []
  if (key === undefined || rest === undefined) return zone
  const answers = zone.answers.map((one) => {
    return { ...one, meaning: one.meaning.replaceAll(`${key}.`, '') }
  })
  return { ...zone, zone: rest, key, answers }
}

type ReadEntry = { zones: BlacklistZone[]; problems: string[] }

async function readEntry(entry: string): Promise<ReadEntry> {
  if (entry.startsWith('@')) return readZoneFile(entry.slice(1))
  const known = knownZones.find(({ zone }) => zone === entry.toLowerCase())
  if (known) return { zones: [known], problems: [] }
  const [, name = '', lists] = ownList.exec(entry.toLowerCase()) ?? []
  const parsed = zoneSchema.safeParse({
    zone: name,
    lists,
    answers: [{ match: 'any', category: 'spam', meaning: `Listed by ${name}.` }],
  })
  if (parsed.success) return { zones: [parsed.data], problems: [] }
  const advice = 'neither a known list nor zone=addresses, zone=domains or zone=both'
  return { zones: [], problems: [`${entry} is ${advice}`] }
}

async function readZoneFile(file: string): Promise<ReadEntry> {
  try {
    const content: unknown = JSON.parse(await readFile(file, 'utf8'))
    const parsed = z.array(zoneSchema).safeParse(content)
    if (parsed.success) return { zones: parsed.data, problems: [] }
    const problems = parsed.error.issues.map(
      ({ path, message }) => `${file}, ${path.join('.') || 'the whole'}: ${message}`,
    )
    return { zones: [], problems }
  } catch (error) {
    return { zones: [], problems: [`${file} cannot be read: ${reasonOf(error)}`] }
  }
}
