module peers

go 1.22

require github.com/golang-jwt/jwt/v5 v5.3.0
