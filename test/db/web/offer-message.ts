/**
 * Composes a message with the same content as others in its test; `mark` is in its subject and its
 * link.
 */
export function offer(mark: string, { ip = '198.51.100.23', author = 'offers@shop.example' } = {}) {
  return Buffer.from(
    [
      `Received: from mail.shop.example (mail.shop.example [${ip}])`,
      ' by mx.provider.example (Postfix) with ESMTPS id 4ABC',
      ' for <you@provider.example>; Mon, 16 Nov 2026 10:00:00 +0000',
      `From: Offers <${author}>`,
      `Subject: Watches ${mark}`,
      `Message-ID: <${mark}@shop.example>`,
      'MIME-Version: 1.0',
      'Content-Type: text/html; charset=utf-8',
      '',
      '<p>Good day! We have watches of all makes at half of what they cost in your town, sent in a',
      'plain box within a week to wherever you are, and you may send them back if they do not fit.',
      '</p><p>Choose\u202e yours &lt;script&gt; at',
      `<a href="https://${mark}.watches.example/a">our shop</a> today, before all of them are gone,`,
      'as they were last year.</p><script>alert(1)</script>',
      '',
    ].join('\r\n'),
  )
}
