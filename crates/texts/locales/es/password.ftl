password-too-short = La nueva contraseña necesita al menos 8 caracteres.
password-too-short-longer = La nueva contraseña es demasiado corta. Debajo del campo se indica la longitud necesaria.
password-too-long = La nueva contraseña es demasiado larga.
password-repeated = La nueva contraseña repite un solo carácter. Elija otra.
password-common = Mucha gente elige esa contraseña y es la primera que se adivina. Elija otra.
password-name = La nueva contraseña está formada por su nombre o dirección, o los contiene. Elija otra.
password-server = La nueva contraseña contiene el nombre de este servidor. Elija otra.
