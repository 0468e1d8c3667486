# An account that is to be erased.

account-delete = Smazat můj účet
account-delete-act = Smazat
account-delete-ask = Smazat účet { $name }?
account-delete-text = Relace, aplikace a tokeny končí ihned. { $days ->
    [one] Účet bude definitivně smazán za { $days } den; do té doby si jej můžete ponechat odkazem, který vám přijde e-mailem.
    [few] Účet bude definitivně smazán za { $days } dny; do té doby si jej můžete ponechat odkazem, který vám přijde e-mailem.
    [many] Účet bude definitivně smazán za { $days } dne; do té doby si jej můžete ponechat odkazem, který vám přijde e-mailem.
   *[other] Účet bude definitivně smazán za { $days } dní; do té doby si jej můžete ponechat odkazem, který vám přijde e-mailem.
}
account-delete-sure = Chci, aby byl můj účet smazán.
account-delete-confirm = Chcete-li účet smazat, zaškrtněte políčko.

deletion-title = Váš účet bude smazán
deletion-when = Bude smazán:
deletion-mailed = Do té doby si jej můžete ponechat: zpráva s odkazem je na cestě k vám.
deletion-ask = Do té doby jej pro vás může ponechat správce tohoto serveru.
deletion-keep-title = Ponechat si účet?
deletion-keep = Ponechat účet
deletion-kept = Účet zůstává. Přihlaste se.

error-keep-account = Tento odkaz již neplatí: účet byl už ponechán, nebo je smazán.

mail-deletion-subject = Váš účet u { $brand } bude smazán
mail-deletion-text = Váš účet bude smazán { $time }. Do té doby se k němu nikdo nemůže přihlásit.
mail-deletion-keep = Chcete-li si jej ponechat, otevřete tento odkaz a potvrďte:
mail-erased-subject = Váš účet u { $brand } byl smazán
mail-erased-text = Váš účet byl smazán se vším, co o něm bylo uloženo.
