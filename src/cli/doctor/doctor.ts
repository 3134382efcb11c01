import type { Config } from '../../config.ts'
import { createResolver } from '../../net/resolver.ts'
import { systemClock } from '../../world.ts'
import type { Surroundings } from '../given-settings.ts'
import { checkDatabase } from './database.ts'
import { type Finding, ok, type Patient } from './finding.ts'
import { checkFolders, checkSettingNames, checkUnits } from './folders.ts'
import {
  checkCertificate,
  checkDataFolder,
  checkDisk,
  checkSettingsFile,
  checkSigningFile,
  checkSpool,
} from './machine.ts'
import { checkMailNames } from './mail-names.ts'
import {
  checkHttpPort,
  checkMain,
  checkPorts,
  checkProvider,
  checkPublicUrl,
  checkRegistries,
  checkRelay,
} from './reach.ts'

/** Checks an installation. `isSound` is false if there is a problem. */
export async function doctor(
  config: Config,
  around: Surroundings,
): Promise<{ text: string; isSound: boolean }> {
  const resolver =
    config.dnsServers === 'none'
      ? undefined
      : createResolver({ servers: config.dnsServers, clock: systemClock })
  const patient: Patient = { config, clock: systemClock, resolve: resolver?.resolve }
  try {
    if (config.mainUrl !== undefined) return conclude(await checkFront(patient, around))
    const findings = await Promise.all([
      ok(`Node.js is ${process.versions.node}.`),
      checkSettingsFile(around.env),
      checkSettingNames(around),
      checkDataFolder(patient),
      checkDisk(patient),
      checkSpool(patient),
      checkFolders(patient),
      checkUnits(patient),
      checkDatabase(patient),
      checkPorts(patient),
      checkPublicUrl(patient),
      checkCertificate(patient),
      checkSigningFile(patient),
      checkRelay(patient),
      checkProvider(patient),
      checkRegistries(patient),
      checkMailNames(patient),
    ])
    return conclude(findings)
  } finally {
    resolver?.close()
  }
}

/** Checks a front, which has no database and no other folder than that of its spool. */
function checkFront(patient: Patient, around: Surroundings) {
  const ofSpool = { config: { ...patient.config, dataDir: patient.config.spool.folder } }
  return Promise.all([
    ok(`Node.js is ${process.versions.node}.`),
    checkSettingsFile(around.env),
    checkSettingNames(around),
    checkDataFolder(ofSpool),
    checkDisk(ofSpool),
    checkSpool(patient),
    checkHttpPort(patient),
    checkMain(patient),
  ])
}

function conclude(findings: readonly (Finding | Finding[])[]) {
  const all = findings.flat()
  return { text: formatFindings(all), isSound: all.every(({ level }) => level !== 'problem') }
}

const LEVEL_CHARS = 9

/** A line for each finding, and a line below it that says what to do. */
function formatFindings(findings: readonly Finding[]): string {
  const lines = findings.flatMap((finding) => {
    const line = `${finding.level.padEnd(LEVEL_CHARS)}${finding.says}`
    return finding.level === 'ok' ? [line] : [line, `${' '.repeat(LEVEL_CHARS)}${finding.todo}`]
  })
  const problems = findings.filter(({ level }) => level === 'problem').length
  const end = problems === 0 ? 'No problem found.' : `Problems: ${problems}.`
  return [...lines, '', end].join('\n')
}
