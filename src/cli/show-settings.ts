import { availableParallelism } from 'node:os'
import path from 'node:path'
import { z } from 'zod'
import { type Config, readConfig, variableSchemas } from '../config.ts'
import { columns } from './command.ts'
import { type Given, pathNames, readGiven, type Surroundings } from './given-settings.ts'

/**
 * The texts that are shown. Of other settings, numbers and words of a closed list are shown, URLs
 * without what may be a key, and nothing else: a new setting is hidden until it is added here.
 */
const shownTexts = new Set([
  ...[...pathNames, 'OPERATOR_NAME', 'OPERATOR_CONTACT', 'HTTP_HOST', 'RECEIVE_HOST', 'CHECK_HOST'],
  ...['CHECK_MILTER_HOST', 'PUBLIC_URL', 'MAIN_URL', 'RDAP_BOOTSTRAP_URL', 'SECURITY_CONTACT'],
  ...['SECURITY_POLICY_URL', 'TRUSTED_PROXIES', 'WEBHOOK_NETWORKS', 'SENDING_ADDRESSES'],
  ...['FORWARD_SCOPE', 'RECEIVE_PROXIES', 'CHECK_PROXIES'],
  ...['MAIL_FROM', 'DKIM_DOMAIN', 'DKIM_SELECTOR', 'RETURN_PATH_DOMAIN', 'LISTS_ZONE'],
  ...['DNS_SERVERS', 'ALARM_MAIL', 'ALARM_QUIET_HOURS', 'BACKUP_KEEP', 'BACKUP_RECIPIENT'],
])

/** The values that follow from other settings or from the machine. */
const derived: Readonly<Record<string, (config: Config) => string>> = {
  PUBLIC_URL: ({ publicUrl }) => publicUrl,
  DATA_DIR: ({ dataDir }) => dataDir,
  BACKUP_DIR: ({ backups }) => backups.folder,
  SPOOL_DIR: ({ spool }) => spool.folder,
  LISTS_DIR: ({ listsDir }) => listsDir,
  WORKERS: ({ workers }) => String(workers),
}

/**
 * Returns the settings in effect, one a line: name, value, and where it comes from. Secrets are
 * hidden. `problems` are sentences about invalid values.
 */
export async function showSettings(
  around: Surroundings,
): Promise<{ text: string; problems: unknown }> {
  const given = await readGiven(around)
  const { config, problems } = readAnyway(around)
  const rows = Object.keys(variableSchemas).map((name) => {
    const value = around.env[name] ?? ''
    if (value !== '') return [name, shown(name, value, around.cwd), sourceOf(name, value, given)]
    const usual = (config && derived[name]?.(config)) ?? defaultOf(name)
    return [name, usual === '' ? '(none)' : usual, 'default']
  })
  return { text: columns(rows).join('\n'), problems }
}

function readAnyway({ env, cwd }: Surroundings): { config?: Config; problems?: unknown } {
  try {
    return { config: readConfig(env, { cores: availableParallelism(), cwd }) }
  } catch (problems) {
    return { problems }
  }
}

function sourceOf(name: string, value: string, given: readonly Given[]): string {
  const inFile = given.findLast((one) => one.name === name)
  if (!inFile) return 'environment'
  return inFile.value === value ? inFile.file : `environment, instead of ${inFile.file}`
}

function shown(name: string, value: string, cwd: string): string {
  if (pathNames.includes(name)) return path.resolve(cwd, value)
  const schema = schemaOf(name)
  const isOpen = schema instanceof z.ZodEnum || schema instanceof z.ZodNumber
  if (isOpen || shownTexts.has(name)) return value
  return (URL.canParse(value) && withoutKeys(new URL(value))) || '(hidden)'
}

/** The server of a URL and the name of a database. Any other part may be a key. */
function withoutKeys({ protocol, host, username, pathname, search }: URL): string {
  if (host === '') return ''
  const place = /^postgres/.test(protocol) || pathname === '/' ? pathname : pathname && '/***'
  return `${protocol}//${username && '***@'}${host}${place}${search && '?***'}`
}

function defaultOf(name: string): string {
  let schema: z.core.$ZodType | undefined = variableSchemas[name]
  if (schema instanceof z.ZodPipe) schema = schema.def.in
  return schema instanceof z.ZodDefault ? String(schema.def.defaultValue) : ''
}

function schemaOf(name: string): z.core.$ZodType | undefined {
  let schema: z.core.$ZodType | undefined = variableSchemas[name]
  if (schema instanceof z.ZodPipe) schema = schema.def.in
  while (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) {
    schema = schema.def.innerType
  }
  return schema
}
