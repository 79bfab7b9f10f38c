//! Non-negative least squares: Lawson and Hanson, Solving Least Squares Problems (1974), chapter 23, algorithm NNLS.

use crate::linear::{Matrix, dot, least_squares};

/// A column whose gradient is less than this part of the largest possible one does not come in.
const TOLERANCE: f64 = 1e-12;
/// Lawson and Hanson: "typically 3 n iterations"; far more means that rounding goes round in circles.
const MOST_ROUNDS: usize = 100;

/// The x of non-negative numbers that makes |A x - b| least, and that length.
pub fn nnls(a: &Matrix, b: &[f64]) -> (Vec<f64>, f64) {
    let n = a.columns();
    let mut x = vec![0.0; n];
    let mut passive: Vec<usize> = Vec::new();
    // A column that depends on those in the set cannot come in beside them.
    let mut barred = vec![false; n];
    let column = |j: usize| -> Vec<f64> { a.rows().iter().map(|row| row[j]).collect() };
    let columns: Vec<Vec<f64>> = (0..n).map(column).collect();
    let length = |v: &[f64]| libm::sqrt(dot(v, v));
    for _ in 0..MOST_ROUNDS * n.max(1) {
        let fitted = a.times(&x);
        let residual: Vec<f64> = b.iter().zip(&fitted).map(|(b, fitted)| b - fitted).collect();
        let gradient = |j: usize| dot(&columns[j], &residual);
        let allowed = |j: &usize| {
            !passive.contains(j) && !barred[*j] && gradient(*j) > TOLERANCE * length(&columns[*j]) * length(b)
        };
        let Some(next) = (0..n).filter(allowed).max_by(|i, j| gradient(*i).total_cmp(&gradient(*j))) else { break };
        passive.push(next);
        loop {
            let Some(solved) = least_squares(a, b, &passive) else {
                barred[next] = true;
                passive.retain(|j| *j != next);
                x[next] = 0.0;
                break;
            };
            if solved.iter().all(|value| *value > 0.0) {
                for (j, value) in passive.iter().zip(&solved) {
                    x[*j] = *value;
                }
                // What was barred may come in beside others.
                barred.fill(false);
                break;
            }
            // As far towards the solution as nothing becomes negative.
            let steps = passive.iter().zip(&solved).filter(|(_, value)| **value <= 0.0);
            let step = steps.map(|(j, value)| x[*j] / (x[*j] - value)).fold(1.0, f64::min);
            for (j, value) in passive.iter().zip(&solved) {
                x[*j] += step * (value - x[*j]);
            }
            let gone: Vec<usize> = passive
                .iter()
                .zip(&solved)
                .filter(|(j, value)| **value <= 0.0 && x[**j] <= 1e-14 * value.abs().max(1e-300))
                .map(|(j, _)| *j)
                .collect();
            for j in &gone {
                x[*j] = 0.0;
            }
            passive.retain(|j| !gone.contains(j));
            if gone.is_empty() || passive.is_empty() {
                break;
            }
        }
    }
    let fitted = a.times(&x);
    let residual: Vec<f64> = b.iter().zip(&fitted).map(|(b, fitted)| b - fitted).collect();
    let left = length(&residual);
    (x, left)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: &[&[f64]]) -> Matrix {
        let mut matrix = Matrix::new(rows[0].len());
        for row in rows {
            matrix.push(row.to_vec());
        }
        matrix
    }

    /// The examples of the documentation of scipy.optimize.nnls, and that of MATLAB's lsqnonneg.
    #[test]
    #[expect(clippy::approx_constant, reason = "a published number that happens to be near one")]
    fn published_examples_come_out() {
        let a = matrix(&[&[1.0, 0.0], &[1.0, 0.0], &[0.0, 1.0]]);
        let (x, left) = nnls(&a, &[2.0, 1.0, 1.0]);
        assert!((x[0] - 1.5).abs() < 1e-12 && (x[1] - 1.0).abs() < 1e-12, "{x:?}");
        assert!((left - 0.707_106_781_186_547_5).abs() < 1e-12, "{left}");
        let (x, left) = nnls(&a, &[-1.0, -1.0, -1.0]);
        assert_eq!(x, [0.0, 0.0]);
        assert!((left - 1.732_050_807_568_877_2).abs() < 1e-12, "{left}");
        let c = matrix(&[&[0.0372, 0.2869], &[0.6861, 0.7071], &[0.6233, 0.6245], &[0.6344, 0.6170]]);
        let (x, left) = nnls(&c, &[0.8587, 0.1781, 0.0747, 0.8405]);
        assert_eq!(x[0], 0.0);
        assert!((x[1] - 0.6929).abs() < 5e-5 && (left * left - 0.8315).abs() < 5e-4, "{x:?} {left}");
    }
}
