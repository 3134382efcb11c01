/** What a mail server knows of a message it asks about. All of it may be absent. */
export type Envelope = {
  /** The client that hands the message over, in canonical text. */
  ip: string | undefined
  helo: string | undefined
  /** The name that the mail server looked up for the client and found to lead back to it. */
  hostname: string | undefined
  /** MAIL FROM without brackets; empty for the null return path. */
  returnPath: string | undefined
  recipients: readonly string[]
  /** As whom the client logged in: then it is a user of the mail server. */
  user: string | undefined
  queueId: string | undefined
}
