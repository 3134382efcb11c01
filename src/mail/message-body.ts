/** The readable parts of a message, and its attachments. */
export type MessageBody = {
  /** All text/plain parts, decoded; empty when there are none. */
  text: string
  /** All text/html parts, decoded; empty when there are none. */
  html: string
  attachments: BodyAttachment[]
}

/** A part that is not shown as text. */
export type BodyAttachment = { name: string | undefined; type: string; content: Buffer }
