"""Walls and similar pages, written for these tests: the shape of each product's page, in many
languages.

Each row is (name, kind, body). What a person would call a wall is one, whatever the rules say.
"""

from __future__ import annotations


def page(title: str, body: str, head: str = "") -> str:
    """Return a small HTML page."""
    return f"<!doctype html><html><head><title>{title}</title>{head}</head><body>{body}</body></html>"


MAKERS = (
    (
        "cloudflare challenge",
        "blocked",
        page(
            "Just a moment...",
            "<h1>shop.example</h1><p>Verifying you are human. This may take a few seconds.<p>shop.example needs to review the security"
            " of your connection before proceeding.<script>(function(){window._cf_chl_opt={cvId:'3',cRay:'8f'}})()</script>",
        ),
    ),
    (
        "cloudflare challenge in German",
        "blocked",
        page("Nur einen Moment…", "<p>Wird geladen<script>window._cf_chl_opt = {cType:'managed'}</script>"),
    ),
    (
        "cloudflare old challenge",
        "blocked",
        page("Just a moment...", "<div class='cf-browser-verification cf-im-under-attack'>Please wait</div>"),
    ),
    (
        "cloudflare block",
        "blocked",
        page(
            "Attention Required! | Cloudflare",
            "<div id=cf-wrapper><div id=cf-error-details><h1>Sorry, you have been blocked</h1><h2>You are unable to access shop.example"
            "</h2><p>This website is using a security service to protect itself from online attacks.<p>Cloudflare Ray ID: 8f</div></div>",
        ),
    ),
    (
        "cloudflare rate limit",
        "blocked",
        page(
            "Access denied | shop.example used Cloudflare",
            "<div id='cf-error-details'>Error 1015 You are being rate limited</div>",
        ),
    ),
    (
        "cloudflare origin down",
        "soft_error",
        page(
            "shop.example | 521: Web server is down",
            "<div id='cf-error-details'>Web server is down Error code 521 What can I do?</div>",
        ),
    ),
    (
        "cloudflare waiting room",
        "blocked",
        page(
            "Waiting Room",
            "<h1>You are now in line</h1><p>Estimated wait 4 minutes<p>Waiting Room powered by Cloudflare",
        ),
    ),
    (
        "turnstile",
        "blocked",
        page(
            "shop.example",
            "<p>Please verify you are human to go on.<div class=cf-turnstile data-sitekey=0x1></div>"
            "<script src=https://challenges.cloudflare.com/turnstile/v0/api.js></script>",
        ),
    ),
    (
        "hcaptcha",
        "blocked",
        page("Robot check", "<p>One more step: please complete the security check<div class='h-captcha'></div>"),
    ),
    (
        "recaptcha",
        "blocked",
        page(
            "shop.example",
            "<p>We noticed unusual activity. Solve the captcha to go on.<div class='g-recaptcha' data-sitekey=k></div>",
        ),
    ),
    (
        "akamai refusal",
        "blocked",
        (
            "<HTML><HEAD>\n<TITLE>Access Denied</TITLE>\n</HEAD><BODY>\n<H1>Access Denied</H1>\n\nYou don't have permission to access"
            ' "http&#58;&#47;&#47;shop&#46;example&#47;" on this server.<P>\nReference&#32;&#35;18&#46;1a2b&#46;1700000000&#46;ab\n</BODY></HTML>'
        ),
    ),
    (
        "akamai challenge",
        "blocked",
        page("", "<div id='sec-if-cpt-container'></div><script src='/_sec/cp_challenge/ak.js'></script>"),
    ),
    (
        "datadome",
        "blocked",
        page(
            "shop.example",
            "<p id=cmsg>Please enable JS and disable any ad blocker</p><script>var dd={'rt':'c','cid':'A','hsh':'B'}</script>"
            "<script src='https://ct.captcha-delivery.com/c.js'></script>",
        ),
    ),
    (
        "perimeterx",
        "blocked",
        page(
            "Access to this page has been denied",
            '<p>Press &amp; Hold to confirm you are a human<div id="px-captcha"></div>',
        ),
    ),
    (
        "incapsula",
        "blocked",
        (
            "<html style='height:100%'><head><META NAME='ROBOTS' CONTENT='NOINDEX'></head><body><iframe id='main-iframe'"
            " src='/_Incapsula_Resource?CWUDNSAI=9&incident_id=1-2'>Request unsuccessful. Incapsula incident ID: 1-2</iframe></body></html>"
        ),
    ),
    (
        "imperva",
        "blocked",
        page(
            "Pardon Our Interruption",
            "<h1>Pardon Our Interruption</h1><p>As you were browsing something about your browser made us think",
        ),
    ),
    (
        "aws waf",
        "blocked",
        page("", "<script>window.gokuProps={key:'k',iv:'i'}</script><div id=challenge-container></div>"),
    ),
    (
        "cloudfront",
        "blocked",
        page(
            "ERROR: The request could not be satisfied",
            "<h1>403 ERROR</h1><h2>The request could not be satisfied.</h2>Request blocked. We can't connect to the server."
            "<pre>Generated by cloudfront (CloudFront) Request ID: a==</pre>",
        ),
    ),
    (
        "sucuri",
        "blocked",
        page(
            "Sucuri WebSite Firewall - Access Denied",
            "<h1>Access Denied - Sucuri Website Firewall</h1><p>Block ID: GEO02",
        ),
    ),
    (
        "sucuri challenge",
        "blocked",
        page("You are being redirected...", "<script>var s={};sucuri_cloudproxy_js='';</script>"),
    ),
    ("ddos-guard", "blocked", page("DDoS-Guard", "<script src='https://check.ddos-guard.net/check.js'></script>")),
    (
        "anubis",
        "blocked",
        page(
            "Making sure you&#39;re not a bot!",
            "<script id='anubis_challenge' type='application/json'>{}</script><img src='/.within.website/x/cmd/anubis/static/img/pensive.webp'>"
            "<p>Loading... You are seeing this because the administrator of this website has set up a guard against scraping.",
        ),
    ),
    (
        "anubis in French",
        "blocked",
        page("Nous vérifions", "<script src='/.within.website/x/cmd/anubis/static/js/main.mjs'></script><p>Chargement"),
    ),
    (
        "go-away",
        "blocked",
        page(
            "Checking",
            "<script src='/.well-known/.git.gammaspectra.live/git/go-away/cmd/go-away/challenge/js'></script>",
        ),
    ),
    (
        "kasada",
        "blocked",
        page(
            "",
            "<script src='/149e9513-01fa-4fb0-aad4-566afd725d1b/2d206a39-8ed7-437e-a3be-862e0f06eea3/ips.js?x=1'></script>",
        ),
    ),
    (
        "f5 refusal",
        "blocked",
        page(
            "Request Rejected",
            "The requested URL was rejected. Please consult with your administrator.<br>Your support ID is: 123",
        ),
    ),
    (
        "f5 challenge",
        "blocked",
        "<html><head><noscript>Please enable JavaScript to view the page content.<br/>Your support ID is: 12.</noscript></head><body></body>",
    ),
    ("vercel", "blocked", page("Vercel Security Checkpoint", "<p>We're verifying your browser")),
    ("alibaba", "blocked", "<html><script>var arg1='A1';document.cookie='acw_sc__v2='+x;</script></html>"),
    (
        "imunify360",
        "blocked",
        page("One moment, please...", "<p>Please wait while your request is being verified...<form id='wsidchk-form'>"),
    ),
    (
        "wordfence",
        "blocked",
        page(
            "503",
            "<h1>Your access to this site has been limited by the site owner</h1><p>Generated by Wordfence at Mon, 1 Jan",
        ),
    ),
    ("crowdsec", "blocked", page("CrowdSec Captcha", "<h1>CrowdSec Captcha</h1>")),
    (
        "modsecurity",
        "blocked",
        page(
            "Not Acceptable!",
            "<h1>Not Acceptable!</h1><p>An appropriate representation was not found. This error was generated by Mod_Security.",
        ),
    ),
    ("fortinet", "blocked", page("Web Filter Violation", "<!-- FortiGuard Intrusion Prevention --><p>Access blocked")),
    (
        "queue-it",
        "blocked",
        page("Queue", '<div id="queue-it_log"></div><p>You are in line. Your estimated wait time is 12 minutes'),
    ),
    (
        "yandex",
        "blocked",
        page("Вы не робот?", "<form action='/checkcaptcha?key=1'>Подтвердите, что запросы отправляли вы"),
    ),
    (
        "amazon",
        "blocked",
        page(
            "Amazon",
            "<form action='/errors/validateCaptcha'>Enter the characters you see below. Sorry, we need to know that you're not a robot.",
        ),
    ),
    (
        "google",
        "blocked",
        page(
            "https://www.google.com/search?q=x",
            '<form id="captcha-form" action="index"></form>Our systems have detected unusual traffic from your computer network.',
        ),
    ),
    (
        "google consent",
        "blocked",
        page(
            "Before you continue to Search",
            "<form action=https://consent.google.com/save>Before you continue. We use cookies and data to",
        ),
    ),
    (
        "yahoo consent",
        "blocked",
        page(
            "Yahoo",
            "<form action='//consent.yahoo.com/v2/collectConsent'>Yahoo is part of the Yahoo family of brands. Accept all",
        ),
    ),
    (
        "nginx 502",
        "soft_error",
        page("502 Bad Gateway", "<center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center>"),
    ),
    (
        "nginx 503",
        "soft_error",
        page("503 Service Temporarily Unavailable", "<h1>503 Service Temporarily Unavailable</h1>nginx/1.24"),
    ),
    (
        "apache 404",
        "soft_error",
        page("404 Not Found", "<h1>Not Found</h1><p>The requested URL /a was not found on this server."),
    ),
    (
        "apache 500",
        "soft_error",
        page("500 Internal Server Error", "<h1>Internal Server Error</h1><p>The server encountered an internal error"),
    ),
    (
        "iis 404",
        "soft_error",
        page("404 - File or directory not found.", "<h2>404 - File or directory not found.</h2>"),
    ),
    (
        "tomcat",
        "soft_error",
        page("HTTP Status 404 – Not Found", "<h1>HTTP Status 404 – Not Found</h1><p>Type Status Report"),
    ),
    ("asp.net", "soft_error", page("Runtime Error", "<h1>Server Error in '/' Application.</h1><h2>Runtime Error</h2>")),
    (
        "spring",
        "soft_error",
        page("", "<h1>Whitelabel Error Page</h1><p>This application has no explicit mapping for /error"),
    ),
    ("wordpress database", "soft_error", page("Database Error", "<h1>Error establishing a database connection</h1>")),
    (
        "wordpress critical",
        "soft_error",
        page("WordPress › Error", "<p>There has been a critical error on this website."),
    ),
    (
        "wordpress upgrade",
        "soft_error",
        page("Maintenance", "<h1>Briefly unavailable for scheduled maintenance. Check back in a minute.</h1>"),
    ),
    (
        "varnish",
        "soft_error",
        page("503 Backend fetch failed", "<h1>Error 503 Backend fetch failed</h1><h3>Guru Meditation:</h3><p>XID: 3"),
    ),
    (
        "envoy",
        "soft_error",
        "<p>upstream connect error or disconnect/reset before headers. reset reason: connection failure",
    ),
    (
        "heroku",
        "soft_error",
        page("Application error", "<p>An error occurred in the application and your page could not be served."),
    ),
    (
        "next.js",
        "soft_error",
        page("", "<h2>Application error: a client-side exception has occurred (see the browser console)</h2>"),
    ),
    (
        "next.js 404",
        "soft_error",
        page("404: This page could not be found.", "<h1>404</h1><h2>This page could not be found.</h2>"),
    ),
    ("express", "soft_error", page("Error", "<pre>Cannot GET /shop/item</pre>")),
    (
        "github pages",
        "soft_error",
        page("Site not found · GitHub Pages", "<h1>404</h1><p>There isn't a GitHub Pages site here."),
    ),
    (
        "rails",
        "soft_error",
        page("We're sorry, but something went wrong (500)", "<h1>We're sorry, but something went wrong.</h1>"),
    ),
    ("php", "soft_error", "<br /><b>Fatal error</b>: Uncaught Error: Call to undefined function f() in /srv/a.php:3"),
    ("shopify", "soft_error", page("Shop", "<h1>Sorry, this shop is currently unavailable.</h1>")),
    (
        "suspended",
        "soft_error",
        page("Account Suspended", "<h1>Account Suspended</h1><p>This Account has been suspended."),
    ),
    ("parked", "soft_error", page("shop.example", "<h1>shop.example</h1><p>This domain may be for sale!")),
)
"""Known at a first poll already: the maker's own page, or a server's."""

ROBOTS = (
    ("en", "Verify you are human by completing the action below."),
    ("de", "Bitte bestätigen Sie, dass Sie ein Mensch sind."),
    ("fr", "Veuillez confirmer que vous n’êtes pas un robot."),
    ("es", "Por favor, confirme que no es un robot."),
    ("pt", "Confirme que você não é um robô."),
    ("it", "Conferma di non essere un robot."),
    ("nl", "Bevestig dat je geen robot bent."),
    ("pl", "Potwierdź, że nie jesteś robotem."),
    ("ru", "Подтвердите, что вы не робот."),
    ("uk", "Підтвердьте, що ви не робот."),
    ("tr", "Devam etmek için robot olmadığınızı doğrulayın."),
    ("ar", "يرجى تأكيد أنك لست روبوتًا."),
    ("he", "נא לאשר שאינך רובוט."),
    ("hi", "कृपया पुष्टि करें कि आप रोबोट नहीं हैं।"),
    ("zh", "请确认您不是机器人。"),
    ("zh-Hant", "請確認您不是機器人。"),
    ("ja", "ロボットではないことを確認してください。"),
    ("ko", "계속하려면 로봇이 아님을 확인하세요."),
)
REFUSALS = (
    ("en", "Access Denied"),
    ("de", "Zugriff verweigert"),
    ("fr", "Accès refusé"),
    ("es", "Acceso denegado"),
    ("pt", "Acesso negado"),
    ("it", "Accesso negato"),
    ("nl", "Toegang geweigerd"),
    ("pl", "Odmowa dostępu"),
    ("ru", "Доступ запрещён"),
    ("uk", "Доступ заборонено"),
    ("tr", "Erişim engellendi"),
    ("ar", "تم رفض الوصول"),
    ("he", "הגישה נדחתה"),
    ("hi", "पहुँच अस्वीकृत"),
    ("zh", "访问被拒绝"),
    ("zh-Hant", "拒絕存取"),
    ("ja", "アクセスが拒否されました"),
    ("ko", "액세스가 거부되었습니다"),
)
NOT_FOUND = (
    ("en", "Page not found"),
    ("de", "Seite nicht gefunden"),
    ("fr", "Page introuvable"),
    ("es", "Página no encontrada"),
    ("pt", "Página não encontrada"),
    ("it", "Pagina non trovata"),
    ("nl", "Pagina niet gevonden"),
    ("pl", "Nie znaleziono strony"),
    ("ru", "Страница не найдена"),
    ("uk", "Сторінку не знайдено"),
    ("tr", "Sayfa bulunamadı"),
    ("ar", "الصفحة غير موجودة"),
    ("he", "הדף לא נמצא"),
    ("hi", "पृष्ठ नहीं मिला"),
    ("zh", "页面不存在"),
    ("zh-Hant", "找不到頁面"),
    ("ja", "ページが見つかりません"),
    ("ko", "페이지를 찾을 수 없습니다"),
)
MAINTENANCE = (
    ("en", "Our site is down for maintenance. We will be back soon."),
    ("de", "Wegen Wartungsarbeiten ist unsere Seite zurzeit nicht erreichbar."),
    ("fr", "Notre site est actuellement en maintenance."),
    ("es", "Nuestro sitio se encuentra en mantenimiento."),
    ("pt", "O nosso site está em manutenção. Voltaremos em breve."),
    ("it", "Il nostro sito è in manutenzione. Torneremo presto."),
    ("nl", "Wegens onderhoud is onze website even niet bereikbaar."),
    ("pl", "Przerwa techniczna. Trwają prace konserwacyjne."),
    ("ru", "На сайте ведутся технические работы."),
    ("uk", "На сайті тривають технічні роботи."),
    ("tr", "Sitemizde bakım çalışması yapılmaktadır."),
    ("ar", "الموقع تحت الصيانة. سنعود قريبًا."),
    ("he", "האתר נמצא בתחזוקה. נחזור בקרוב."),
    ("hi", "साइट रखरखाव के अधीन है। हम जल्द ही वापस आएंगे।"),
    ("zh", "网站维护中，请稍后再试。"),
    ("zh-Hant", "網站維護中，請稍後再試。"),
    ("ja", "ただいまメンテナンス中です。"),
    ("ko", "현재 시스템 점검 중입니다."),
)
OUT_OF_ORDER = (
    ("en", "Sorry, an error occurred while processing your request."),
    ("de", "Leider ist ein technischer Fehler aufgetreten. Die Seite ist vorübergehend nicht verfügbar."),
    ("fr", "Une erreur est survenue. Le service est temporairement indisponible."),
    ("es", "Se ha producido un error. El servicio no está disponible en este momento."),
    ("pt", "Ocorreu um erro. O serviço está temporariamente indisponível."),
    ("it", "Si è verificato un errore. Il servizio è temporaneamente non disponibile."),
    ("nl", "Er is een fout opgetreden. De dienst is tijdelijk niet beschikbaar."),
    ("pl", "Wystąpił błąd. Usługa jest tymczasowo niedostępna."),
    ("ru", "Произошла ошибка. Сервис временно недоступен."),
    ("uk", "Сталася помилка. Сервіс тимчасово недоступний."),
    ("tr", "Bir hata oluştu. Hizmet geçici olarak kullanılamıyor."),
    ("ar", "حدث خطأ. الخدمة غير متاحة مؤقتًا."),
    ("he", "אירעה שגיאה. השירות אינו זמין כרגע."),
    ("hi", "एक त्रुटि हुई। सेवा अस्थायी रूप से अनुपलब्ध है।"),
    ("zh", "服务器发生错误，服务暂时不可用。"),
    ("zh-Hant", "系統發生錯誤，服務暫時無法使用。"),
    ("ja", "エラーが発生しました。サービスは一時的に利用できません。"),
    ("ko", "오류가 발생했습니다. 서비스를 일시적으로 이용할 수 없습니다."),
)
LOGINS = (
    ("en", "Sign in", "Please sign in to continue."),
    ("de", "Anmelden", "Bitte melden Sie sich an, um fortzufahren."),
    ("fr", "Connexion", "Veuillez vous connecter pour continuer."),
    ("es", "Iniciar sesión", "Inicie sesión para continuar."),
    ("pt", "Entrar", "Faça login para continuar."),
    ("it", "Accedi", "Accedi per continuare."),
    ("nl", "Inloggen", "Log in om verder te gaan."),
    ("pl", "Logowanie", "Zaloguj się, aby kontynuować."),
    ("ru", "Вход", "Войдите, чтобы продолжить."),
    ("uk", "Вхід", "Увійдіть, щоб продовжити."),
    ("tr", "Giriş Yap", "Devam etmek için giriş yapın."),
    ("ar", "تسجيل الدخول", "يرجى تسجيل الدخول للمتابعة."),
    ("he", "התחברות", "יש להתחבר כדי להמשיך."),
    ("hi", "लॉग इन करें", "जारी रखने के लिए लॉग इन करें।"),
    ("zh", "登录", "请先登录。"),
    ("zh-Hant", "登入", "請先登入。"),
    ("ja", "ログイン", "続行するにはログインしてください。"),
    ("ko", "로그인", "로그인이 필요합니다."),
)

_ARTICLE = " ".join(
    f"Paragraph {n} tells how the town's harbour was dredged, widened and lit, and who paid for it in year {1900 + n}."
    for n in range(40)
)
ORDINARY = (
    (
        "an article on walls",
        page("What “Access denied” means", f"<p>Verify you are human, says the page: access denied. {_ARTICLE}"),
    ),
    ("an article called 404", page("404 Not Found: a history", f"<p>Page not found. {_ARTICLE}")),
    (
        "an article on outages",
        page("Why we were down", f"<p>Our site was under maintenance, 502 bad gateway and so on. {_ARTICLE}"),
    ),
    (
        "a contact form with reCAPTCHA",
        page(
            "Contact us",
            "<form>Name <input> Mail <input> Your message <textarea></textarea><div class=g-recaptcha></div><button>Send</button></form>"
            "<p>Write to us, call us between nine and five, or come to Harbour Street 3."
            "<script src='https://www.google.com/recaptcha/api.js'></script>",
        ),
    ),
    (
        "a newsletter form with Turnstile",
        page(
            "Newsletter",
            "<p>Get our letter once a month. <input type=email><div class=cf-turnstile></div><button>Subscribe</button>",
        ),
    ),
    (
        "a page behind Cloudflare",
        page(
            "Opening hours",
            "<p>Mon to Fri 9 to 17<script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>",
        ),
    ),
    ("a page behind DataDome", page("Prices", "<p>Apples 3.10<script src='https://js.datadome.co/tags.js'></script>")),
    (
        "a page behind HUMAN",
        page("Prices", "<p>Apples 3.10<script>window._pxAppId='PX1';</script><script src='/1/init.js'></script>"),
    ),
    ("a page behind Imperva", page("Prices", "<p>Apples 3.10<script src='/_Incapsula_Resource?SWJIYLWA=7'></script>")),
    (
        "a shell behind Imperva",
        page("App", "<div id=root></div><script src='/_Incapsula_Resource?SWJIYLWA=7'></script>"),
    ),
    (
        "a shell behind Radware",
        page("App", "<div id=root></div><script>ssConf('cu','validate.perfdrive.com, ssc')</script>"),
    ),
    (
        "a shell behind Kasada",
        page(
            "App",
            "<div id=root></div><script src='/149e9513-01fa-4fb0-aad4-566afd725d1b/2d206a39-8ed7-437e-a3be-862e0f06eea3/p.js'></script>",
        ),
    ),
    (
        "a shell behind AWS WAF",
        page("App", "<div id=root></div><script src='https://a.edge.sdk.awswaf.com/a/b/challenge.js'></script>"),
    ),
    (
        "a page that queues",
        page(
            "Tickets",
            "<p>Concert on Friday, 40 seats<script src='//static.queue-it.net/script/queueclient.min.js'></script>",
        ),
    ),
    ("a script-built page", page("App", "<div id=root></div><script src=/app.js></script>")),
    ("a login page", page("Sign in", "<form><input name=u><input type=password><button>Sign in</button></form>")),
    (
        "a page with a consent banner",
        page("Menu", "<div>We use cookies. Accept all cookies to continue</div><p>Soup 4, bread 2"),
    ),
    ("a status page, all well", page("Status", "<p>All systems operational. No incidents reported today.")),
    (
        "a page on car maintenance",
        page("Maintenance - Example Motors", "<p>Change the oil every 15,000 km. Book a visit."),
    ),
    ("a forbidden film", page("Forbidden Planet (1956)", "<p>A film by Fred M. Wilcox with Walter Pidgeon.")),
    ("a number", page("Peugeot 404", "<p>A car made from 1960 to 1975.")),
    ("a page of pictures", page("Gallery", "<img src=a.jpg><img src=b.jpg>")),
    ("a short page", "<p>42"),
    ("a German page", page("Zugänge", "<p>Der Zugriff ist frei. Sie sind ein Mensch mit Geschmack.")),
    ("a Japanese page", page("メンテナンス情報", "<p>自転車のメンテナンス方法をご紹介します。")),
    ("a Chinese page", page("机器人", "<p>机器人比赛将于星期五举行，欢迎参加。")),
    ("a Russian page", page("Вход в музей", "<p>Вход свободный, билеты не нужны.")),
)
"""Ordinary pages: nothing may be said of them at a first poll."""
