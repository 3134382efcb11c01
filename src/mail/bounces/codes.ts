const address = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)/g
const statusForm = /(?<![\d.v-])([245])\.([0-7])\.(\d{1,3})(?!\d|\.\d)/gi

const afterReply = /(?<![\d.])[245][0-5]\d[\s-][\s#('"]{0,9}([245]\.[0-7]\.\d{1,3})(?!\d|\.\d)/g

/**
 * The enhanced status code in a text (RFC 3463) that says most: the one in an SMTP reply, else the
 * first that is not `x.0.0` nor `4.4.7`.
 */
export function statusIn(text: string): string | undefined {
  const replied = [...text.matchAll(afterReply)].map(([, status = '']) => status).find(isTelling)
  if (replied !== undefined) return replied
  const found = [...text.replace(address, ' ').matchAll(statusForm)].map(([status]) => status)
  return found.find(isTelling) ?? found[0]
}

function isTelling(status: string): boolean {
  return !status.endsWith('.0.0') && status !== '4.4.7'
}

/**
 * Which of two status codes to believe: the one a notification states, or the one in the reply it
 * quotes, which is nearer to the cause where the stated one is vague.
 */
export function preferredStatus(
  stated: string | undefined,
  replied: string | undefined,
  replyCode: number | undefined,
): string | undefined {
  if (stated === undefined || replied === undefined || stated === replied) return stated ?? replied
  const replyClass = replyCode === undefined ? undefined : String(replyCode).charAt(0)
  if (replyClass !== undefined && stated.charAt(0) !== replied.charAt(0)) {
    if (replyClass === stated.charAt(0)) return stated
    if (replyClass === replied.charAt(0)) return replied
  }
  const isVague = (status: string) => /^.\.0|\.0$|^.\..\.0/.test(status)
  if (stated.endsWith('.0.0')) return replied.endsWith('.0.0') ? stated : replied
  if (isVague(stated) && !isVague(replied)) return replied
  if (replied.endsWith('.0.0')) return stated
  if (stated === '4.4.7' || stated.startsWith('5.3.')) return replied
  if (stated === '5.1.1') return isVague(replied) ? stated : replied
  return stated === '5.1.3' && replied.startsWith('5.7.') ? replied : stated
}

const replyForm = /(?<![\d.:#/=-])([245])([0-5])(\d)(?![\d.:]*\d)/g
const codeInFront = /^\s*[<[(]?([245][0-5]\d)[\s-]/
const announced =
  /(?:said|reply|replied|response|responded|code|error|smtp;|host|because|\(|<<<)[^\d\n]{0,60}(?<![\d.])([245][0-5]\d)(?![\d.])/i
const beforeStatus = /(?<![\d.])([245][0-5]\d)[\s-]+[(#'"]*[245]\.\d{1,3}\.\d{1,3}(?!\d)/

/** The SMTP reply code in a text (RFC 5321 §4.2), one of the class of the status if there is one. */
export function replyCodeIn(text: string, status?: string): number | undefined {
  const plain = text.replace(address, ' ')
  const likely = [beforeStatus, codeInFront, announced].map((form) => form.exec(plain)?.[1])
  const others = [...plain.matchAll(replyForm)].map(([code]) => code)
  const codes = [...likely, ...others].filter((code) => code !== undefined)
  const ofClass = codes.find((code) =>
    status === undefined ? !code.startsWith('2') : code.charAt(0) === status.charAt(0),
  )
  return ofClass === undefined ? undefined : Number(ofClass)
}
