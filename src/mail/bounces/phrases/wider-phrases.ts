import type { BounceReason } from '../reasons.ts'

/**
 * What is said in looser words and in other languages, looked for where nothing else tells the
 * reason: in lower case without accents. The narrower cause stands first.
 */
export const widerPhrases: readonly (readonly [BounceReason, readonly RegExp[]])[] = [
  [
    'mailboxfull',
    [
      /(?:storage|mail ?box|inbox|quota) (?:\S+ ){0,3}(?:full|exceed\w*|exe+ded|exhausted)\b/,
      /exhausted (?:its |the )?(?:allowed )?storage|too many mails? on the server|overquota/,
      // Spanish, Portuguese, Italian, French.
      /(?:buzon|casilla) (?:\S+ ){0,4}llen[oa]|cuota (?:\S+ ){0,3}(?:excedida|superada)/,
      /caixa (?:postal|de correio) (?:\S+ ){0,3}cheia|casella (?:\S+ ){0,4}piena/,
      /boite (?:\S+ ){0,5}pleine|quota (?:\S+ ){0,3}(?:depasse|atteint|superat|excedid)/,
      // German, Dutch, Polish, Turkish, Russian, Chinese, Japanese.
      /(?:postfach|mailbox|quota) (?:\S+ ){0,4}(?:voll|uberschritten|ist vol\b|is vol\b)/,
      /zuviele mails auf dem server|skrzynka (?:\S+ ){0,3}(?:pelna|przepelniona)|kutusu dolu/,
      /ящик (?:\S+ ){0,3}(?:переполнен|заполнен)|превышен\S* (?:\S+ ){0,2}квот/,
      /邮箱(?:已满|空间不足|容量)|信箱已滿/,
      /容量(?:が|を)(?:いっぱい|超)|メールボックスがいっぱい/,
    ],
  ],
  [
    'suspend',
    [
      /(?:user|account|mailbox|recipient) (?:\S+ ){0,3}(?:not activated|disabled|inactive)\b/,
      /\binactive (?:user|recipient)|disableduser|status is locked|account has expired/,
      /mailbox \S{1,320} is restricted/,
      /(?:cuenta|usuario|casilla|conta) (?:\S+ ){0,4}(?:inactiv[oa]|suspendid[oa]|desativad)/,
      /(?:ha expirado|bloccat[oa]) (?:\S+ ){0,3}(?:falta de uso|inutilizzo)/,
      /compte (?:\S+ ){0,3}(?:desactive|suspendu|ferme)/,
      /konto (?:\S+ ){0,3}(?:gesperrt|zablokowane)/,
      /(?:postfach|mailbox|account) (?:\S+ ){0,3}(?:gesperrt|deaktiviert|geblokkeerd)/,
      /учетная запись (?:\S+ ){0,3}(?:заблокирована|отключена)/,
      /ящик (?:\S+ ){0,3}заблокирован/,
      /(?:帐号|账号|邮箱)(?:已)?(?:被)?(?:禁用|冻结|锁定|停用)/,
    ],
  ],
  [
    'userunknown',
    [
      /(?:user|recipient|mail ?box|address|account|mail drop|id) (?:\S+ ){0,3}not (?:found|exist)/,
      /\bno such (?:id|mail ?box|mail drop|address|recipient|account)/,
      /no mail-?box\b|not our customer/,
      /does not have an account|user path no exist|wrong recipients?|address_not_found/,
      /(?:recipient|address) (?:unrecogni[sz]ed|denied|not allowed)|cannot deliver mail for/,
      /(?:recipient|mailbox) (?:cannot|can't|could not) be (?:verified|found)/,
      /undeliverable address/,
      /not found in ldap|unable to find alias|invalid or unknown (?:virtual )?user|not exists\b/,
      /(?:account|mailbox) is (?:currently )?unavailable|mailbox name not allowed/,
      /old address no longer valid|not a member of domain/,
      // Spanish, Portuguese, Italian, French.
      /(?:usuario|destinatario|cuenta|direccion|buzon) (?:\S+ ){0,3}(?:inexistente|desconocid)/,
      /(?:usuario|destinatario|cuenta|buzon|conta) (?:\S+ ){0,3}(?:no existe|nao existe)/,
      /(?:usuario|destinatario) (?:\S+ ){0,2}(?:desconhecid|nao encontrad)/,
      /(?:destin\w*\.?|indirizzo|utente|casella) (?:\S+ ){0,3}(?:sconosciut|inesistente|errato)/,
      /(?:destinataire|adresse|utilisateur|boite) (?:\S+ ){0,4}(?:inconnue?|inexistante?|n'existe)/,
      // German, Dutch, Polish, Turkish, Scandinavian.
      /(?:benutzer|empfanger|adressat|adresse|postfach) (?:\S+ ){0,3}(?:unbekannt|existiert nicht)/,
      /(?:gebruiker|ontvanger|adres|postbus) (?:\S+ ){0,3}(?:onbekend|bestaat niet)/,
      /nie ma takiego (?:konta|uzytkownika)|nie istnieje/,
      /(?:uzytkownik|adres) (?:\S+ ){0,2}nieznany/,
      /kullan[iı]c[iı] (?:\S+ ){0,2}(?:bulunamad[iı]|yok)/,
      /(?:brukeren|anvandaren|mottagaren) finn?e?s? (?:inte|ikke)/,
      // Russian, Chinese, Japanese, Korean.
      /(?:пользовател|адресат|получател|ящик)\S{0,3} (?:\S+ ){0,3}(?:неизвест|не (?:найден|сущ))/,
      /(?:用户|收件人|邮箱|邮件地址)(?:地址)?不存在|查無此(?:人|帳號)|无此用户/,
      /(?:宛先|ユーザ|アドレス)\S{0,8}(?:不明|存在しま|見つかりま)/,
      /존재하지 않는/,
    ],
  ],
  [
    'norelaying',
    [
      /relaying (?:to \S{1,330} )?(?:not allowed|prohibited)|unauthori[sz]ed relay/,
      /allowed to relay/,
    ],
  ],
  [
    'authfailure',
    [
      /\bspf\b.{0,40}(?:unauthenticated|not permitted|softfail)|dmarc ?reject|domainkeys/,
      /dkim (?:signature )?(?:is )?(?:invalid|missing|bad)|mail ?from (?:failed|is mismatched)/,
    ],
  ],
  [
    'speeding',
    [
      /\bthrottl(?:ed|ing)\b|exceeded the rate limit|receivingrate|rate limit(?:ed|ing)?\b/,
      /(?:temporarily )?deferred - \[\d{3}\]|\[gl01\]/,
    ],
  ],
  ['toomanyconn', [/too many (?:sessions|connections|load)|server (?:is )?too busy/]],
  [
    'mesgtoobig',
    [/message size exceeds limit|(?:message|mail) (?:is )?too (?:big|large)|nachricht zu gro/],
  ],
  [
    'virusdetected',
    [/\b(?:virus|malware|trojan)\b(?!-free)|phish(?:ing)? (?:attempt|detected|url)/],
  ],
  [
    'spamdetected',
    [
      /(?:reject\w*|declared|suspicion of|as|seems as a?|detected) ?(?:- )?(?:spam|junk)/,
      /junk ?mail|spam scale|spamtrap|blocked for spam|antyspamowy|odrzucona przez/,
      /content (?:reject|refused|filter)|mail data refused|reject(?:ed)? - content/,
      /垃圾邮件|スパム|спам\b/,
    ],
  ],
  [
    'blocked',
    [
      /black ?-?listed|\b(?:dns )?blacklists?\b|in a dns black|listed (?:at|on|by|in)\b/,
      /(?:your|the) (?:ip|region|domain|host)\S{0,10} (?:\S+ ){0,5}(?:blocked|banned|listed)/,
      /\b(?:bad|banned|blocked) ips?\b|ips blocked|dial-?up|dynamic[- ]ips?\b|\(?rtr:bl|\bspamrl\b/,
      /(?:refused|denied) due to abuse|from your (?:country|location)|email blocked by/,
      /tosa@rx\.t-online|connection from \S{1,60} (?:was )?(?:rejected|refused)/,
      /\b(?:ou|sc|dy)-00\d?\b/,
      /greylist|client host rejected: access denied|mismatches client ip/,
    ],
  ],
  [
    'systemerror',
    [
      /temporary system failure|temporarily (?:unavailable|unable)|resources temporarily/,
      /system(?:\(\w\))? (?:busy|load)|too much load|too busy to accept|cannot access mailbox/,
      /cannot append message/,
    ],
  ],
  ['hostunknown', [/^(?:[45]\d\d )?domain name not found/]],
  ['networkerror', [/mail ?loop|cannot establish session|no mx for|name service error/]],
  [
    'rejected',
    [
      /sender (?:is |was )?(?:rejected|blacklisted|denied|domain resolve fail)|sender has no a,/,
      /(?:verification failed|callback setup failed) (?:for|while)|envelope blocked/,
      /\bblocked senders?\b|rejected by this user|multiple from addresses/,
    ],
  ],
  [
    'policyviolation',
    [
      /polic(?:y|ies)\b|anti-spoofing|password protected file|security regulations/,
      /required standards/,
    ],
  ],
  [
    'securityerror',
    [
      /authentication (?:is )?(?:required|mechanism)|requires authentication|smtp auth/,
      /starttls|tls (?:protocols?|version)/,
    ],
  ],
  ['expired', [/queue too long|not yet been delivered|delivery temporarily suspended/]],
]
