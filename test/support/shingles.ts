import { type Analysis, analyzeMessage } from '../../src/pieces/analyze.ts'

/** The variable content of a test message; the rest is always the same. */
export type Written = {
  from?: string
  subject?: string
  /** Further header fields, as whole lines. */
  fields?: readonly string[]
  text?: string
  html?: string
}

/** Composes a message with the given parts, in UTF-8. */
export function messageOf({ from, subject, fields = [], text, html }: Written): Buffer {
  const type = html === undefined ? 'plain' : 'html'
  return Buffer.from(
    [
      'Return-Path: <b-4711-you=provider.example@bounces.shop.example>',
      'Received: from mail7.shop.example (mail7.shop.example [192.0.2.7])',
      ' by mx.provider.example (Postfix) with ESMTPS id 4ABC',
      ' for <you@provider.example>; Mon, 16 Nov 2026 10:00:00 +0000',
      `From: ${from ?? 'Great Offers <offers@shop.example>'}`,
      'To: you@provider.example',
      `Subject: ${subject ?? 'An offer'}`,
      'Date: Mon, 16 Nov 2026 09:59:57 +0000',
      'Message-ID: <4711.abc@shop.example>',
      'MIME-Version: 1.0',
      ...fields,
      `Content-Type: text/${type}; charset=utf-8`,
      'Content-Transfer-Encoding: 8bit',
      '',
      html ?? text ?? '',
      '',
    ].join('\r\n'),
  )
}

/** Returns the analysis of a composed message. */
export function analysisOf(written: Written): Promise<Analysis> {
  return analyzeMessage(messageOf(written), { trustedRelays: [], ignoreStamps: true })
}

/** Returns the hashes of a message’s shingles of one type. */
export async function hashesOf(name: string, written: Written): Promise<Set<string>> {
  const { shingles } = await analysisOf(written)
  return new Set(shingles.filter((one) => one.name === name).map(({ hash }) => hash))
}
