/** Domains in which anybody has a mailbox. */
export const freemailDomains: ReadonlySet<string> = new Set(
  `126.com 163.com aim.com aol.com aol.fr att.net bellsouth.net bigpond.com bk.ru bluewin.ch
  btinternet.com charter.net comcast.net cox.net daum.net earthlink.net email.com email.cz
  fastmail.com fastmail.fm free.fr freenet.de gmail.com gmx.at gmx.ch gmx.com gmx.de gmx.fr
  gmx.net googlemail.com hanmail.net hotmail.co.uk hotmail.com hotmail.de hotmail.es hotmail.fr
  hotmail.it hushmail.com icloud.com inbox.lv inbox.ru interia.pl laposte.net libero.it list.ru
  live.co.uk live.com live.fr live.nl mac.com mail.com mail.ru mailbox.org me.com mms.net msn.com
  naver.com neuf.fr o2.pl onet.pl orange.fr outlook.com outlook.de outlook.fr pm.me posteo.de
  proton.me protonmail.com protonmail.ch qq.com rambler.ru rediffmail.com rocketmail.com
  rogers.com sbcglobal.net seznam.cz sfr.fr shaw.ca sina.com sky.com sohu.com t-online.de
  talktalk.net terra.com.br tuta.com tutanota.com uol.com.br verizon.net virgilio.it virgin.net
  virginmedia.com wanadoo.fr web.de wp.pl ya.ru yahoo.ca yahoo.co.jp yahoo.co.uk yahoo.com
  yahoo.com.br yahoo.de yahoo.es yahoo.fr yahoo.it yandex.com yandex.ru yeah.net ymail.com
  zoho.com zohomail.com`.split(/\s+/),
)

/** Domains that send a reader on to wherever somebody wanted: the domain did nothing. */
export const shortenerDomains: ReadonlySet<string> = new Set(
  `aka.ms amzn.to bit.do bit.ly bitly.com bl.ink buff.ly clck.ru cutt.ly dlvr.it fb.me goo.gl
  goo.su ift.tt is.gd j.mp kutt.it linktr.ee lnk.to lnkd.in mcaf.ee ow.ly qrco.de rb.gy
  rebrand.ly s.id shorturl.at shrtco.de snip.ly soo.gd spoti.fi t.co t.ly t.me tiny.cc tiny.one
  tinyurl.com trib.al u.to urlz.fr v.gd vk.cc wa.me youtu.be`.split(/\s+/),
)

/**
 * Domains on which millions keep their pages and files under names the domain's owner gave, or
 * through which others send and are read: storage, forms, mailing, social networks, standards.
 */
export const platformDomains: ReadonlySet<string> = new Set(
  `1drv.ms adobe.com aliyuncs.com amazon.com amazonaws.com amazonses.com apple.com archive.org
  atlassian.net azure.com azureedge.net backblazeb2.com box.com brevo.com calendly.com canva.com
  cloudflare.com cloudflarestorage.com constantcontact.com digitaloceanspaces.com discord.com
  discordapp.com docusign.com docusign.net doubleclick.net dropbox.com dropboxusercontent.com
  ebay.com evernote.com exacttarget.com facebook.com facebookmail.com fbcdn.net github.com
  githubusercontent.com gitlab.com google.com googleapis.com googleusercontent.com gstatic.com
  hubspot.com instagram.com intuit.com issuu.com jotform.com klaviyo.com klaviyomail.com
  licdn.com linkedin.com list-manage.com live.net mailchimp.com mailgun.net mailgun.org
  mailjet.com mandrillapp.com mcsv.net medium.com mega.nz microsoft.com microsoftonline.com
  notion.site notion.so office.com office365.com onedrive.com outlook.com paypal.com
  pinterest.com postmarkapp.com pphosted.com reddit.com rsgsv.net salesforce.com scribd.com
  sendgrid.net sendinblue.com sharepoint.com shopify.com slack.com sparkpostmail.com squarespace.com
  stripe.com surveymonkey.com telegram.org trello.com tumblr.com twitter.com typeform.com
  urldefense.com vimeo.com vk.com w3.org wetransfer.com whatsapp.com wikipedia.org windows.net
  wix.com wixsite.com wordpress.com x.com yahoo.net yahoodns.net youtube.com zendesk.com zoom.us`.split(
    /\s+/,
  ),
)
