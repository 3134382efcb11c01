import { expect, test } from 'vitest'
import type { Picture } from '../../../src/parsing/files/picture.ts'
import { pictureLook, decodePicture } from '../../../src/parsing/files/picture-look.ts'
import { readFiles } from '../../support/read-files.ts'
import { type Analysis, analyzeMessage } from '../../../src/pieces/analyze.ts'
import { isSameLook, lookBands, lookPieces } from '../../../src/pieces/looks.ts'
import { groupIntoCampaigns } from '../../support/campaigns.ts'
import { chanceFrom } from '../../support/chance.ts'
import { composeParts } from '../../support/link-kinds.ts'
import { drawPicture, pngFile, reencodings } from '../../support/pictures.ts'

/** Draws an offer: twelve colored boxes at random places. */
function offer(seed: number): Picture {
  const chance = chanceFrom(seed)
  const boxes = Array.from({ length: 12 }, () => ({
    ...{ x: chance() * 350, y: chance() * 250, width: 40 + chance() * 120 },
    ...{ height: 30 + chance() * 90, color: [chance(), chance(), chance()] as const },
  }))
  return drawPicture(400, 300, (x, y) => {
    const box = boxes.findLast(
      (one) => x >= one.x && x < one.x + one.width && y >= one.y && y < one.y + one.height,
    )
    const [red, green, blue] = box?.color ?? [0.9, 0.9, 0.9]
    return [red * 255, green * 255, blue * 255]
  })
}

const offers = [1, 2, 3].map(offer)
const looks = offers.map(pictureLook)

async function mailWith(file: Buffer, text = ''): Promise<Analysis> {
  const raw = composeParts('From: a@a.example\nSubject: x', [
    { type: 'text/plain', content: text },
    { type: 'image/png', name: 'a.png', content: file },
  ])
  return analyzeMessage(raw, { trustedRelays: [], ignoreStamps: true, readFiles })
}

const ATTEMPTS_MAX = 5

/** Reads the picture again if a busy machine took too long for it. */
async function pictureMail(file: Buffer): Promise<Analysis> {
  for (let attempt = 1; ; attempt++) {
    const analysis = await mailWith(file)
    if (analysis.fingerprints.look !== undefined || attempt === ATTEMPTS_MAX) return analysis
  }
}

test.for(Object.entries(reencodings))('a copy has the same look: %s', ([, encode]) => {
  for (const [index, picture] of offers.entries()) {
    const copy = decodePicture(encode(picture))
    const look = copy ? pictureLook(copy) : ''
    expect(looks.filter((one) => isSameLook(one, look))).toEqual([looks[index]])
    const bands = new Set(lookBands(looks[index] ?? ''))
    expect(bands.isDisjointFrom(new Set(lookBands(look)))).toBe(false)
  }
})

test('a picture of one color, or of one edge, has no parts to find it by', () => {
  const plain = pictureLook(drawPicture(300, 200, () => [200, 0, 0]))
  const edge = pictureLook(drawPicture(300, 200, (x) => (x < 150 ? [0, 0, 0] : [255, 255, 255])))
  expect([lookBands(plain), lookPieces(plain), lookPieces(edge)]).toEqual([undefined, [], []])
})

test('messages that consist of copies of a picture are one campaign', async () => {
  const [one = offer(1), other] = offers
  const files = [...Object.values(reencodings).map((encode) => encode(one)), pngFile(other ?? one)]
  const messages: Analysis[] = []
  for (const file of files) messages.push(await pictureMail(file))
  const sizes = groupIntoCampaigns(messages).map(({ members }) => members.length)
  expect(sizes).toEqual([10, 1])
  const pieces = messages.map(
    ({ shingles }) => shingles.filter(({ name }) => name === 'picture-look').length,
  )
  expect(Math.min(...pieces)).toBeGreaterThan(0)
})

test('a picture beside a text does not count, such as a logo in a signature', async () => {
  const text = 'Good morning, here is the list that you asked for, with all the names. Greetings'
  const { shingles, fingerprints } = await mailWith(pngFile(offers[0] ?? offer(1)), text)
  expect(fingerprints.look).toBeUndefined()
  expect(shingles.some(({ name }) => name === 'picture-look')).toBe(false)
})
