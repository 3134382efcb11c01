import { analyzeForCounting } from '../../src/pieces/analyze.ts'
import { shippedRules } from '../../src/judging/rule-versions.ts'
import type { Facts } from '../../src/verdict/facts/fact.ts'
import { factDefinitions, factsOf } from '../../src/verdict/facts/facts.ts'
import { compileRules, type RuleBook } from '../../src/verdict/rules/rule-book.ts'
import { faultLine } from '../../src/verdict/rules/rule-file.ts'
import { printTable, readCorpus } from './corpus.ts'

const ROUNDS = 12
const options = { trustedRelays: [], ignoreStamps: true }

/**
 * Conditions of kinds that are rare in the shipped rules: one in ten of the measured conditions.
 */
const besides = [
  'author.domain.endsWith(".example") && links.count > 2',
  'text.language in ["ru", "zh", "ja", "ko"] && text.words > 20',
  'headers.mailer.lowerAscii().contains("mass mailer")',
  'authentication.signers.exists(s, s == author.organization || s.endsWith(".example"))',
  'attachments.extensions.exists(e, e in ["exe", "scr", "js", "vbs", "iso"])',
  'bulk.list_id.matches("^[a-z0-9-]+[.](news|offers?)[.]")',
  'size(blacklists.zones) >= 2 || size(authentication.signers.filter(s, s == "")) > 1',
]

/**
 * Measures the CPU time of rules per message, with the same cost control as in the program. The
 * facts are those of real messages; the conditions are the shipped ones, and some that search texts
 * and lists.
 */
export async function benchRules(): Promise<void> {
  const messages = readCorpus(['phishing', 'newsletters', 'spam', 'ham'])
  const facts: Facts[] = []
  for (const raw of messages) facts.push(await factsOfMessage(raw))
  const rows: string[][] = []
  const shipped = compiled(shippedRules(), 'watched')
  rows.push(measure(`the ${shipped.rules.length} that are shipped`, shipped, facts))
  for (const count of [100, 1_000]) {
    const text = rulesLike(shipped, count)
    rows.push(measure(`${count} rules`, compiled(text, 'watched'), facts))
    rows.push(measure(`${count} rules, without cost control`, compiled(text, 'plain'), facts))
    const begun = process.cpuUsage()
    compiled(text, 'plain')
    console.log(`${count} rules are compiled in ${since(begun).toFixed(0)} ms`)
  }
  printTable(['CPU µs a message', 'mean', 'a rule', 'symbols'], rows)
  console.log(`\n${facts.length} messages, the best of ${ROUNDS} rounds`)
}

function compiled(text: string, how: 'watched' | 'plain'): RuleBook {
  const timing = how === 'watched' ? { elapsed: () => performance.now() } : {}
  const result = compileRules(text, factDefinitions, timing)
  if ('faults' in result) throw new Error(result.faults.map(faultLine).join('\n'))
  return result.rules
}

function rulesLike({ rules }: RuleBook, count: number): string {
  return Array.from({ length: count }, (_, at) => {
    const rule = rules[at % rules.length]
    const other = at % 10 === 9 ? besides[Math.floor(at / 10) % besides.length] : undefined
    const when = JSON.stringify(other ?? rule?.when ?? 'true')
    const { weight = 1, meaning = '' } = rule ?? {}
    const means = JSON.stringify(meaning)
    return `- symbol: RULE_${at}\n  weight: ${weight}\n  meaning: ${means}\n  when: ${when}\n`
  }).join('')
}

function measure(name: string, book: RuleBook, facts: readonly Facts[]): string[] {
  let best = Number.POSITIVE_INFINITY
  let symbols = 0
  for (let round = 0; round < ROUNDS; round++) {
    symbols = 0
    const begun = process.cpuUsage()
    for (const one of facts) symbols += book.run(one).length
    best = Math.min(best, (since(begun) * 1000) / facts.length)
  }
  const cutOff = book.health().filter((one) => one.cutOff)
  for (const one of cutOff) console.log(`${name}: ${one.symbol} was cut off`)
  const each = (best / book.rules.length) * 1000
  const raised = (symbols / facts.length).toFixed(1)
  return [name, best.toFixed(1), `${each.toFixed(0)} ns`, raised]
}

/** Returns the CPU time since `begun`, in milliseconds. */
function since(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / 1000
}

async function factsOfMessage(raw: Buffer): Promise<Facts> {
  const { features } = await analyzeForCounting(raw, options)
  const report = { kind: 'spam', karma: 0.7, channel: 'api' } as const
  return factsOf({ features, report, now: new Date() })
}
