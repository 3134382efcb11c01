import { expect, test } from 'vitest'
import { promoteModel } from '../../../src/db/models.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { keepModel } from '../../../src/judging/models.ts'
import { analyzeForCounting } from '../../../src/pieces/analyze.ts'
import { countInputs, packLinear } from '../../../src/verdict/model/linear.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { checkedMail } from '../../support/checked-mail.ts'
import { openCheckSite } from './check-site.ts'

const lure = checkedMail('one', 'https://good.example/')
const letter = Buffer.from(lure.toString().replace(/Dear.*$/m, 'Shall we meet on Friday?'))
const client = { ip: '9.9.9.10', helo: 'mx.shop.example', from: 'offers@shop.example' }

/** Packs a model that is sure about messages with most of the pieces of another. */
async function modelOf(raw: Buffer): Promise<Buffer> {
  const options = { trustedRelays: [], ignoreStamps: false, readsText: true }
  const { text = [] } = await analyzeForCounting(raw, options)
  const features = ['links.hosts']
  const unwanted = new Float64Array(countInputs(features.length) + 1)
  for (const piece of text) unwanted[piece] = 1 / Math.sqrt(text.length)
  return packLinear({ features, unwanted, phishing: unwanted, sureScore: 0.9, isOwn: true })
}

test('a mail server is advised to mark a message that only a sure model knows', async () => {
  const site = await closeAfterTests(openCheckSite())
  const { pool, clock } = site.app
  const by = { at: clock(), reporterId: null }
  const model = { format: 'linear', calibration: { slope: 1, intercept: 0 }, report: null } as const
  const more = { content: await modelOf(lure), origin: 'a test', trainedAt: clock() }
  const version = await keepModel(pool, { ...model, ...more }, by)
  await inTransaction(pool, (tx) => promoteModel(tx, version, by))
  const marked = (await site.post('/checkv2', lure, client)).json
  expect(marked).toMatchObject({ action: 'add header', symbols: { MODEL: { score: 6 } } })
  expect((await site.post('/checkv2', letter, client)).json.action).toBe('no action')
})
