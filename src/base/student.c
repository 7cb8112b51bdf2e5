/*
 * The tail above x with nu degrees of freedom is half of the regularised incomplete beta
 * function I_z(nu / 2, 1 / 2), z = nu / (nu + x^2), by its continued fraction (Lentz; Press and
 * others, Numerical Recipes, 6.4).
 */
#include "base/student.h"

#include <math.h>
#include <stdbool.h>

/* lgamma() has its sign in a variable that all threads share. */
static double log_gamma(double x)
{
    int sign;

    return lgamma_r(x, &sign);
}

double student_tail(double x, double nu)
{
    double a = nu / 2, b = 0.5, z = nu / (nu + x * x), c = 1, d, h, front;
    bool is_turned = z > (a + 1) / (a + b + 2);

    if (x == 0)
        return 0.5;
    if (is_turned) {
        double swap = a;

        a = b;
        b = swap;
        z = 1 - z;
    }
    front =
        exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(z) + b * log1p(-z)) / a;
    d = 1 / (1 - (a + b) * z / (a + 1));
    h = d;
    for (int m = 1; m < 200; m++) {
        double even = m * (b - m) * z / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * z / ((a + 2 * m) * (a + 2 * m + 1));

        d = 1 / (1 + even * d);
        c = 1 + even / c;
        h *= d * c;
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        h *= d * c;
        if (fabs(d * c - 1) < 1e-12)
            break;
    }
    return 0.5 * (is_turned ? 1 - front * h : front * h);
}

double student_quantile(double tail, double nu)
{
    double low = 0, high = 1;

    while (student_tail(high, nu) > tail && high < 1e12)
        high *= 2;
    for (int i = 0; i < 80; i++) {
        double middle = (low + high) / 2;

        if (student_tail(middle, nu) > tail)
            low = middle;
        else
            high = middle;
    }
    return high;
}
