# Names of months as they stand in a date, and the order of its parts.

time-moment = { $day } { $month } { $year }, { $hour }:{ $minute } UTC
time-month-1 = Jan
time-month-2 = Feb
time-month-3 = Mar
time-month-4 = Apr
time-month-5 = May
time-month-6 = Jun
time-month-7 = Jul
time-month-8 = Aug
time-month-9 = Sep
time-month-10 = Oct
time-month-11 = Nov
time-month-12 = Dec
