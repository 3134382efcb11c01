import { createTransport } from 'nodemailer'
import type { Pool } from 'pg'
import { applyRules } from '../../src/judging/rule-versions.ts'
import { factDefinitions } from '../../src/verdict/facts/facts.ts'
import { listByHand } from '../support/listed-by-hand.ts'
import { ruleText } from '../support/rule-facts.ts'

/** Sends a message to a mail server; returns the code of its answer, 250 if it accepts it. */
export async function hand(
  port: number,
  raw: Buffer,
  envelope: { from?: string; to?: string } = {},
): Promise<number> {
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    ignoreTLS: true,
    name: 'shop.example',
  })
  const { from = 'offers@shop.example', to = 'you@home.example' } = envelope
  try {
    const { response } = await transport.sendMail({ envelope: { from, to }, raw })
    return Number(response.slice(0, 3))
  } catch (error) {
    return (error as { responseCode?: number }).responseCode ?? 0
  } finally {
    transport.close()
  }
}

/** Lists the link domain `worst.example` manually, with a rule that rejects listed mail. */
export async function ruleOut(pool: Pool): Promise<void> {
  await listByHand(pool, { kind: 'link-domain', name: 'worst.example' })
  const rule = ruleText('WORST', 'reputation.any_listed', 20)
  const deed = { at: new Date(), reporterId: null, note: '' }
  await applyRules({ pool, definitions: factDefinitions }, rule, 0, deed)
}

/**
 * Returns the message of a mailbox that has the mark in its Message-ID; undefined if there is none.
 */
export function mailIn(mailbox: string, mark: string): string | undefined {
  return mailbox.split(/^From /m).find((mail) => mail.includes(`<${mark}@`))
}
