# An account that is to be erased.

account-delete = मेरा खाता हटाएँ
account-delete-act = हटाएँ
account-delete-ask = खाता { $name } हटाएँ?
account-delete-text = सत्र, ऐप्लिकेशन और टोकन तुरंत समाप्त हो जाते हैं। { $days ->
    [one] { $days } दिन बाद खाता हमेशा के लिए मिटा दिया जाता है; तब तक आप ई-मेल से भेजे गए लिंक से उसे रख सकते हैं।
   *[other] { $days } दिनों बाद खाता हमेशा के लिए मिटा दिया जाता है; तब तक आप ई-मेल से भेजे गए लिंक से उसे रख सकते हैं।
}
account-delete-sure = मैं चाहता/चाहती हूँ कि मेरा खाता मिटा दिया जाए।
account-delete-confirm = अपना खाता हटाने के लिए बॉक्स पर निशान लगाएँ।

deletion-title = आपका खाता मिटाया जाएगा
deletion-when = मिटाने का समय:
deletion-mailed = तब तक आप उसे रख सकते हैं: लिंक वाला ई-मेल आपको भेजा गया है।
deletion-ask = तब तक इस सर्वर के संचालक उसे आपके लिए रख सकते हैं।
deletion-keep-title = क्या अपना खाता रखना है?
deletion-keep = खाता रखें
deletion-kept = खाता बना रहेगा। लॉग इन करें।

error-keep-account = यह लिंक अब काम नहीं करता: खाता पहले ही रख लिया गया है या मिटा दिया गया है।

mail-deletion-subject = { $brand } पर आपका खाता मिटाया जाएगा
mail-deletion-text = आपका खाता { $time } पर मिटाया जाएगा। तब तक कोई उसमें लॉग इन नहीं कर सकता।
mail-deletion-keep = उसे रखने के लिए यह लिंक खोलें और पुष्टि करें:
mail-erased-subject = { $brand } पर आपका खाता मिटा दिया गया
mail-erased-text = आपका खाता और उसके बारे में रखा गया सब कुछ मिटा दिया गया।
