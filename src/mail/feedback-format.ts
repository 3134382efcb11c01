/** The formats of feedback reports: the Abuse Reporting Format (RFC 5965), and XARF 4. */
export const feedbackFormats = ['arf', 'xarf'] as const

export type FeedbackFormat = (typeof feedbackFormats)[number]
