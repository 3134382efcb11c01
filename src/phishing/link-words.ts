/** Words of links in widely read languages, without accents and in lower case. */

/** Links to leave a mailing list. */
const leaving = [
  'unsub|opt.?out|remove (?:me|your)|no longer (?:wish|want)|stop receiving|mailing preferences',
  'e?.?mail preferences|manage (?:your )?(?:sub|pref)|update (?:your )?(?:sub|pref)',
  'ab(?:zu)?meld|abbestell|abzubestell|austragen|ausloggen|newsletter ab',
  '(?:nicht mehr|keine weiteren) .{0,20}erhalten|gerer (?:vos|mes) pref',
  'desabonn|desinscri|ne (?:plus|souhaitez plus|voulez plus) recevoir|retrait de',
  'darse de baja|dar de baja|cancelar (?:la |su )?susc|dejar de recibir|anular',
  'descadastr|cancel\\w* (?:a |sua )?(?:inscri|assinat)|deixar de receber|remover',
  'disiscri|annulla\\w* .{0,12}iscri|non (?:vuoi|desideri) (?:piu )?ricevere',
  'uitschrij|afmeld|wypisz|avprenumer|avregistr|afmeld|отпис|отказ',
]
/** Links to other things at the end of a mailing. */
const footing = [
  'privacy|terms (?:and|of|&)|conditions|contact us|help cent|report (?:abuse|it|this)',
  'view .{0,20}(?:online|browser|web ?page)|(?:cannot|can.?t|trouble|problems?) (?:see|view)',
  'datenschutz|impressum|agb|online.?version|kontakt',
  'confidentialite|mentions legales|conditions generales|version en ligne|navigateur',
  'ne voyez pas|s.affiche pas|nicht richtig (?:angezeigt|lesbar)|no (?:ves|puedes ver)',
  'privacidad|aviso legal|ver en (?:el )?navegador|privacidade|termos de|informativa',
]
/** What a link asks the reader to do on a page where something is entered or confirmed. */
const asking = [
  'verif|confirm|claim|log.?in|log.?on|sign.?in|update|unlock|restore|activate|reactivat|withdraw',
  'review|continue|proceed|access|reschedul|redeliver|deliver|track|get (?:started|yours|it|your)',
  'start|accept|reward|bonus|begin|enrol|keep|upgrade|renew|validate|secure|pay|view|click|here',
  'download|open|see|visit|play|join|register|check|learn more|read more|buy|shop',
  'anmelden|bestatig|jetzt|hier|gewinn|einlosen|teilnehm|aktualis|fortfahren|sicher',
  'cliquez|accede|confirm|connect|verifi|profit|recevoir|reclam|activ|valid|ici|suivre|participer',
  'acceder|verific|reclam|descarg|haga clic|aqui|iniciar|empezar|actualiz|confirm|seguimiento',
  'acess|resgat|clique|aqui|regulariz|desbloque|visualiz|atualiz|solicit|ativar|consult|baixar',
  'accedi|clicca|qui|conferm|inizia|partecipa|verifica|aggiorna|scarica|riscatta',
  'klik|bevestig|inloggen|hier|volgen|claim|deelnem|bekijk|meld',
  'войти|подтверд|получ|нажм|здесь|смотр',
]

/** Words that say nothing of their own. */
const vague: ReadonlySet<string> = new Set(
  (
    'aqui by click clicca clicking clic cliquant cliquer cliquez en haga here hier ici just klik ' +
    'klicken lien link please qui sur the this to'
  ).split(' '),
)

function isVague(text: string): boolean {
  return text !== '' && (text.match(/\p{L}+/gu) ?? []).every((word) => vague.has(word))
}

const isLeaving = new RegExp(plain(leaving.join('|')))
const isFooting = new RegExp(plain(footing.join('|')))
const isAsking = new RegExp(`(?:^|[^\\p{L}])(?:${plain(asking.join('|'))})`, 'u')

/** What a link is for, by the words that a reader sees. */
export type LinkPurpose = 'leave' | 'footer' | 'ask' | 'none'

/**
 * Returns what the words of a link are for. A link whose own words say little, such as "here", is
 * judged by the words around it. `path`: path and query of its address.
 */
export function purposeOf(
  { text, before, after }: { text: string; before: string; after: string },
  path: string,
): LinkPurpose {
  const own = plain(text)
  const said = isVague(own) ? `${plain(before)} ${own} | ${plain(after).slice(0, 60)}` : own
  if (isLeaving.test(said) || isLeaving.test(path.toLowerCase())) return 'leave'
  if (isFooting.test(said)) return 'footer'
  return isAsking.test(own) ? 'ask' : 'none'
}

function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}|\p{Cf}|\p{Variation_Selector}/gu, '')
    .toLowerCase()
}
