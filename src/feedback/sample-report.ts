import type { App } from '../app.ts'
import { pack, unpack } from '../db/rows.ts'
import { redactionKey } from '../evidence/codes.ts'
import { answerKeys, answerLinks, composeAnswerAddress } from '../mail/verp.ts'
import type { FeedbackContent } from '../parsing/feedback-content.ts'
import type { ParserPool } from '../parsing/parser-pool.ts'

/** Returns a feedback report about an invented message, as an abuse desk would receive it. */
export type ReadSample = () => Promise<Buffer>

const message = `Return-Path: <offers@shop.example>
Received: from mail.shop.example (mail.shop.example [192.0.2.23])
 by mx.provider.example (Postfix) with ESMTPS id 4ABC23
 for <ann.smith@provider.example>; Mon, 16 Nov 2026 10:00:00 +0000
From: "Great Offers" <offers@shop.example>
To: Ann Smith <ann.smith@provider.example>
Subject: Ann, your prize is waiting
Date: Mon, 16 Nov 2026 09:59:57 +0000
Message-ID: <4711.ann@shop.example>
List-Unsubscribe: <https://shop.example/off?u=ann.smith%40provider.example>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8

Dear Ann Smith,

you have won a watch. Confirm your address ann.smith@provider.example here:
https://shop.example/prize?u=dGhpcyBpcyBub3QgcmVhbA

Great Offers
`.replaceAll('\n', '\r\n')

const key = { reportId: '01a1fa3a-814b-7f10-ace3-000000000001', number: 1 }

/** Creates the sample when it is first read, with the code that composes real feedback reports. */
export function createSample(
  { config }: Pick<App, 'config'>,
  parser: () => Pick<ParserPool, 'analyze' | 'compose'>,
): ReadSample {
  let made: Promise<Buffer> | undefined
  const make = async () => {
    const packed = await pack(Buffer.from(message))
    const analysis = await parser().analyze(packed, { trustedRelays: [] })
    const { copy } = await parser().compose(packed, analysis.packed, contentOf(config))
    return unpack(copy)
  }
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
}

function contentOf({
  mailFrom,
  operatorName,
  returnPathDomain: domain,
  publicUrl,
  secret,
}: App['config']): FeedbackContent {
  const abuse = 'abuse@hoster.example'
  return {
    ...key,
    ...{ from: mailFrom, operator: operatorName, to: abuse, domain, service: publicUrl },
    createdAt: new Date('2026-11-16T10:05:00Z'),
    feedbackType: 'abuse',
    complaint: { kind: 'spam', verdict: 'spam', signs: [] },
    ...{ format: 'arf', form: 'whole', incidents: 1, isUnsolicited: false, keepsTokens: false },
    answerAddress: composeAnswerAddress(key, { domain, secret }),
    answerLinks: answerLinks(key, { publicUrl, secret }),
    answerKeys: answerKeys(key, { domain, secret }),
    network: {
      ...{ cidr: '192.0.2.0/24', asn: 64_496, name: 'Example Hosting', country: null },
      ...{ abuse, contacts: [abuse] },
    },
    reporter: { addresses: ['ann.smith@provider.example'] },
    redactionKey: redactionKey(secret, 'sample'),
  }
}
