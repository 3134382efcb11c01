import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseHeader } from '../../src/mail/header.ts'
import { parseBody } from '../../src/mail/message-body.ts'
import { type JudgedPages, judgePages } from '../../src/phishing/judge-pages.ts'
import { findConfirmation } from '../../src/phishing/page-gate.ts'
import { findLinks } from '../../src/pieces/links.ts'
import type { Figure } from './measure-verdicts.ts'
import { labeledFiles } from './read-corpus.ts'

/** The links of a message that lead to its page, as a person read them, and those that may. */
type Label = { file: string; pages: string[]; also?: string[] }

type Given = {
  corpus: string
  mailboxes: string | undefined
  /** Prints a message with a wrong result. */
  explain: (line: string) => void
}

/** What became of a message: a wrong page is worse than none. */
type Outcome = 'right' | 'wrong' | 'missed' | 'not confirmed'

/**
 * Names the pages of labeled phishing messages and of wanted mail that would be confirmed if three
 * independent reporters, all proven, had called each message phishing. A message with a page is
 * right if a link to it is named, and no link that does not lead to it.
 */
export async function measurePages(labels: string, given: Given): Promise<Figure[]> {
  const { corpus, explain } = given
  const outcomes = new Map<string, number>()
  const count = (key: string) => outcomes.set(key, (outcomes.get(key) ?? 0) + 1)
  const all = readLabels(labels)
  for (const { file, pages, also = [] } of all) {
    const named = await namedLinks(path.join(corpus, file))
    const outcome = outcomeOf(named, pages, also)
    const isNamed = named.links.length > 0 && named.isConfirmed
    const key = pages.length > 0 ? outcome : isNamed ? 'without' : 'none'
    count(key)
    if (key !== 'right' && key !== 'none') explain(lineOf(file, key, named))
  }
  const withPage = all.filter(({ pages }) => pages.length > 0).length
  const figures = (['right', 'wrong', 'missed', 'not confirmed'] as const).map((key) => {
    return { name: `phishing with a page: ${key}`, hits: outcomes.get(key) ?? 0, of: withPage }
  })
  const without = { hits: outcomes.get('without') ?? 0, of: all.length - withPage }
  return [
    ...figures,
    { name: 'phishing without a page: a page named', ...without },
    ...(await measureWanted(given)),
  ]
}

function readLabels(file: string): Label[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Label)
}

function outcomeOf(
  { links, isConfirmed }: Named,
  pages: readonly string[],
  also: readonly string[],
): Outcome {
  if (links.length === 0) return 'missed'
  if (!isConfirmed) return 'not confirmed'
  if (links.some((link) => !pages.includes(link) && !also.includes(link))) return 'wrong'
  return links.some((link) => pages.includes(link)) ? 'right' : 'missed'
}

async function measureWanted({ corpus, mailboxes, explain }: Given): Promise<Figure[]> {
  const groups = [
    ...['ham', 'newsletter'].map((kind) => ({
      name: kind,
      files: labeledFiles(corpus).flatMap(([file, its]) => (its === kind ? [file] : [])),
    })),
    ...(mailboxes === undefined ? [] : wantedMailboxes(mailboxes)),
  ]
  const figures: Figure[] = []
  for (const { name, files } of groups) {
    let hits = 0
    for (const file of files) {
      const named = await namedLinks(file)
      if (named.links.length === 0 || !named.isConfirmed) continue
      hits++
      explain(lineOf(file, 'wanted', named))
    }
    figures.push({ name: `wanted mail, ${name}: a page named`, hits, of: files.length })
  }
  return figures
}

function wantedMailboxes(folder: string): { name: string; files: string[] }[] {
  return readdirSync(folder)
    .toSorted()
    .filter((name) => existsSync(path.join(folder, name, 'truth.jsonl')))
    .map((name) => {
      const lines = readFileSync(path.join(folder, name, 'truth.jsonl'), 'utf8')
        .trim()
        .split('\n')
      const wanted = lines
        .map((line) => JSON.parse(line) as { file: string; label: string | null })
        .filter(({ label }) => label === 'wanted')
      return { name, files: wanted.map(({ file }) => path.join(folder, name, 'messages', file)) }
    })
}

type Named = { links: string[]; isConfirmed: boolean; why: string }

async function namedLinks(file: string): Promise<Named> {
  if (!existsSync(file)) return { links: [], isConfirmed: false, why: 'no such file' }
  const raw = readFileSync(file)
  const header = parseHeader(raw)
  const body = await parseBody(raw, header)
  const { links } = findLinks(body)
  const found = judgePages({ fields: header.fields, body, links }, [])
  return {
    links: found.pages.flatMap((page) => page.links),
    isConfirmed: isConfirmedByThree(found),
    why: found.signs.map(({ name, weight }) => `${name} ${weight}`).join(', '),
  }
}

/** Whether three reporters of such a message confirm its page. */
function isConfirmedByThree({ pages, isConfirmed }: JudgedPages): boolean {
  const witnesses = [1, 2, 3].map((at) => ({
    ...{ reporterId: `reporter ${at}`, signUpDay: at, circle: at, recipient: Buffer.of(at) },
    ...{ isVouched: false, isProven: true, isYoung: false, url: pages[0]?.url ?? '' },
    ...{ isAccusing: true, isSupported: isConfirmed, decision: null },
  }))
  return findConfirmation(witnesses, { isDefended: false }).confirmedBy === 'reporters'
}

function lineOf(file: string, outcome: string, { links, why }: Named): string {
  return [outcome, file, links[0]?.slice(0, 100) ?? '', why].join('\t')
}
