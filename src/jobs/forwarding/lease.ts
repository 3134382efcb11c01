/** The longest that the mailer may take to send one message: whoever opens it says so. */
export const SEND_MS_MAX = 10 * 60_000

/** What takes longer to compose is not sent this time. */
export const COMPOSING_MS_MAX = 60_000

/**
 * When a message that is set out now has surely left or failed, its composing, a minute's wait for
 * its turn and the difference of clocks included. Its job comes again then, and not before: else
 * two would send it.
 */
export const LEASE_MS = SEND_MS_MAX + 4 * 60_000
