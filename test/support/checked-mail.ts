/** Composes a message that contains a listed link; each `mark` gives a different message. */
export function checkedMail(mark: string, link: string): Buffer<ArrayBuffer> {
  return Buffer.from(
    [
      'From: "Great Offers" <offers@shop.example>',
      'To: you@home.example',
      `Subject: Offers of the week ${mark}`,
      'Date: Mon, 16 Nov 2026 09:59:57 +0000',
      `Message-ID: <${mark}@shop.example>`,
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      '',
      `Dear customer, our number ${mark} is only for you. See all at ${link} today.`,
      '',
    ].join('\r\n'),
  )
}
