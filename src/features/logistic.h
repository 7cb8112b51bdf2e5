/*
 * logistic -- 1 / (1 + e^-z) for loops over many numbers: no branch and no call, so that the
 * compiler can take several at once. Off by less than 2e-7, and never NaN: 0 when z is.
 */
#ifndef SNAG_FEATURES_LOGISTIC_H
#define SNAG_FEATURES_LOGISTIC_H

#include <stdint.h>
#include <string.h>

/* 2^t for |t| <= 126: 2^f, |f| <= 1/2, by its series; the whole part goes to the exponent. */
static inline float logistic_power_of_2(float t)
{
    const float round =
        12582912.0f; /* 1.5 * 2^23: adding it leaves no digits after the point */
    float whole = (t + round) - round, f = t - whole, power;
    uint32_t bits;

    power =
        1.0f + f * (0.69314718f +
                    f * (0.24022651f +
                         f * (0.055504109f +
                              f * (0.0096181291f + f * (0.0013333558f + f * 0.00015403530f)))));
    memcpy(&bits, &power, sizeof bits);
    bits += (uint32_t)(int32_t)whole << 23;
    memcpy(&power, &bits, sizeof power);
    return power;
}

static inline float logistic(float z)
{
    float t = z * -1.44269504f;

    t = t < 126.0f ? t : 126.0f; /* also when it is NaN, which no integer is */
    t = t > -126.0f ? t : -126.0f;
    return 1.0f / (1.0f + logistic_power_of_2(t));
}

#endif
