import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { parseHeader } from '../../src/mail/header.ts'
import { isUnwanted } from '../../src/verdict/verdict.ts'
import { ownHosts, readTruths } from './measure-mailboxes.ts'
import { labeledFiles } from './read-corpus.ts'
import { isUnwantedKind } from '../../src/verdict/model/training.ts'
import { signedAnew, testZone } from './sign-anew.ts'
import { type Kept, openWorld, type World } from './world.ts'

/** Messages with known answers, of one mailbox or one kind of a collection. */
export type LabeledMail = {
  name: string
  messages: { file: string; isUnwanted: boolean }[]
  /** CIDR blocks of the machines of the installation, which every reporter declares. */
  ownRelays: string[]
}

/** A count of those messages for which something holds. */
type Share = { hits: number; of: number }

/** The figures of one mailbox or collection. */
export type ForwardingFigures = {
  name: string
  /** Unwanted mail that a mail server is told about before anybody reported it. */
  firstSight: Share
  /** Unwanted mail with a certain origin, forwarded at reports 1 to 3 of new reporters. */
  news: Share[]
  /** The same, at the first report of a vouched reporter. */
  vouched: Share
  /** Wanted mail that is called unwanted at first sight, and that is forwarded. */
  wantedCalled: Share
  wantedNew: Share
  wantedVouched: Share
}

/**
 * The installations of a folder (see `measureMailboxes`). A file is left out if it has no label.
 */
export async function readMailboxes(folder: string): Promise<LabeledMail[]> {
  const found: LabeledMail[] = []
  for (const name of readdirSync(folder).toSorted()) {
    const own = path.join(folder, name)
    if (!existsSync(path.join(own, 'truth.jsonl'))) continue
    const truths = await readTruths(own)
    const headers = await Promise.all(
      truths.map(async ({ file }) => parseHeader(await readFile(fileOf(own, file)))),
    )
    found.push({
      name,
      messages: truths.flatMap(({ file, label }) =>
        label === null ? [] : [{ file: fileOf(own, file), isUnwanted: label === 'unwanted' }],
      ),
      ownRelays: (await ownHosts(own, headers)).addresses.map(
        (ip) => `${ip}/${ip.includes(':') ? 128 : 32}`,
      ),
    })
  }
  return found
}

function fileOf(own: string, file: string): string {
  return path.join(own, 'messages', file)
}

/** The labeled messages of a collection, by kind. */
export function readCollection(folder: string): LabeledMail[] {
  const byKind = Map.groupBy(labeledFiles(folder), ([, kind]) => kind)
  return [...byKind].map(([kind, files]) => ({
    name: `collection: ${kind}`,
    messages: files.map(([file]) => ({ file, isUnwanted: isUnwantedKind(kind) })),
    ownRelays: [],
  }))
}

/** How many new reporters report each unwanted message, one after the other. */
const TIMES = 3

/**
 * Measures what is forwarded on a young site whose only mail is that of `mail`, without a model.
 * First one new reporter after another reports each wanted message by mistake; then three report
 * each unwanted message. Vouched reporters do the same on another site. With `isVerified`, the
 * signatures that the receiving host found valid are valid here too.
 */
export async function measureForwarding(
  mail: LabeledMail,
  isVerified: boolean,
  explain: (line: string) => void,
): Promise<ForwardingFigures> {
  const wanted = mail.messages.flatMap((one) => (one.isUnwanted ? [] : [one.file]))
  const unwanted = mail.messages.flatMap((one) => (one.isUnwanted ? [one.file] : []))
  const onSite = async <T>(isNewcomer: boolean, play: (site: Site) => Promise<T>): Promise<T> => {
    const clock = { ahead: 0 }
    const world = await openWorld(() => new Date(Date.now() + clock.ahead), testZone)
    try {
      return await play({ world, clock, isNewcomer, isVerified, mail, explain })
    } finally {
      await world.close()
    }
  }
  const young = await onSite(true, async (site) => {
    const called = async (files: readonly string[]) =>
      share(await site.world.judge(files), ({ verdict }) => isUnwanted(verdict))
    const [firstSight, wantedCalled] = [await called(unwanted), await called(wanted)]
    const wantedNew = share(await report(site, wanted, 'wanted'), isForwarded)
    const news: Share[] = []
    for (let time = 1; time <= TIMES; time++) {
      news.push(ofCertainOrigin(await report(site, unwanted, `unwanted, report ${time}`)))
    }
    return { firstSight, wantedCalled, wantedNew, news }
  })
  const vouched = await onSite(false, async (site) => ({
    wantedVouched: share(await report(site, wanted, 'wanted'), isForwarded),
    vouched: ofCertainOrigin(await report(site, unwanted, 'unwanted')),
  }))
  return { name: mail.name, ...young, ...vouched }
}

type Site = {
  world: World
  clock: { ahead: number }
  isNewcomer: boolean
  isVerified: boolean
  mail: LabeledMail
  explain: (line: string) => void
}

const HOUR_MS = 3_600_000

/** Reports each file by an account of its own; an hour passes. */
async function report(site: Site, files: readonly string[], what: string): Promise<Kept[]> {
  const { world, clock, isNewcomer, isVerified, mail, explain } = site
  const statements: Parameters<World['accept']>[0][number][] = []
  for (const file of files) {
    const raw = await readFile(file)
    statements.push({
      reporterId: await world.addReporter(isNewcomer),
      kind: 'spam',
      message: isVerified ? await signedAnew(raw) : raw,
      receivedVia: mail.ownRelays,
    })
  }
  const kept = await world.accept(statements)
  await world.settle()
  clock.ahead += HOUR_MS
  const who = isNewcomer ? 'new' : 'vouched'
  for (const [at, { action, why, symbols }] of kept.entries()) {
    explain([mail.name, who, what, files[at], action, why, symbols].join('\t'))
  }
  return kept
}

const isForwarded = ({ action }: Kept) => action === 'forward'

function ofCertainOrigin(kept: readonly Kept[]): Share {
  const certain = kept.filter(({ isOriginCertain }) => isOriginCertain)
  return share(certain, isForwarded)
}

function share<T>(all: readonly T[], holds: (one: T) => boolean): Share {
  return { hits: all.filter(holds).length, of: all.length }
}
