page-address-hint = आप { $host } पर हैं। पासवर्ड लिखने से पहले देख लें कि पता बार में यही लिखा है।
page-or = या
page-continue = जारी रखें
page-cancel = रद्द करें
page-allow = अनुमति दें
page-deny = मना करें
page-language = भाषा
page-language-change = बदलें
page-privacy = निजता
page-terms = शर्तें
page-help = सहायता
page-for-minutes = { $minutes ->
    [one] { $minutes } मिनट तक
   *[other] { $minutes } मिनट तक
}
page-close = आप यह पृष्ठ बंद कर सकते हैं।
page-not-set = सेट नहीं है
page-yes = हाँ
page-no = नहीं
page-logged-in-as = आप { $name } के रूप में लॉग इन हैं।
page-to-account = अपने खाते पर जाएँ
page-device-app-scheme = इस डिवाइस का एक ऐप ({ $scheme })
page-missing-title = पृष्ठ नहीं मिला
page-missing-heading = ऐसा कोई पृष्ठ नहीं है
page-missing-text = हो सकता है पता ग़लत लिखा हो, या पृष्ठ कहीं और चला गया हो।
