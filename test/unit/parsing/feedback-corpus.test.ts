import { expect, test } from 'vitest'
import { corpusFiles } from '../../support/corpus.ts'
import { copyIn, lostDomains, wrongLines } from '../../support/copied-message.ts'
import { feedbackOn, reportedMessage } from '../../support/feedback-reports.ts'
import { leaksIn } from '../../support/leaks.ts'
import { mailparserFields, ownFields } from '../../support/reader-fields.ts'

const folders = ['phishing', 'spam', 'ham', 'newsletters', 'robustness', 'bounces'] as const
const corpus = corpusFiles(...folders)
/**
 * One in this many messages is tested here; test/system/feedback-readers.test.ts tests all of them,
 * with more parsers.
 */
const EVERY = 16

test.skipIf(corpus === undefined)(
  'feedback on real mail names no recipient and keeps its hosts (skipped without the corpus)',
  async () => {
    for (const [index, file] of (corpus ?? []).entries()) {
      if (index % EVERY !== 0) continue
      const message = await reportedMessage(file, index)
      if (!message) continue
      const raw = await feedbackOn(message)
      expect.soft(await leaksIn(raw, message.secrets), file.name).toEqual([])
      expect.soft(wrongLines(raw), file.name).toEqual([])
      const copy = await copyIn(raw)
      expect.soft(copy.text, file.name).toContain('The original message: ')
      expect.soft(copy.attachments, file.name).toEqual([])
      expect.soft(await lostDomains(message, copy), file.name).toEqual([])
      expect.soft(await mailparserFields(raw), file.name).toEqual(ownFields(raw))
      expect.soft(raw.equals(await feedbackOn(message)), file.name).toBe(true)
    }
  },
)
